//! A valid Parquet file whose columns each repeat one value: any number of rows in two kilobytes.

/// A table with these columns, each the same number in every row.
pub(crate) fn many_rows(columns: &[String], rows: u64) -> Vec<u8> {
    let mut file = b"PAR1".to_vec();
    let mut chunks = Vec::new();
    for name in columns {
        let start = file.len() as i64;
        let one = 1f64.to_le_bytes();
        file.extend(
            Struct::default().i(1, 2).i(2, 8).i(3, 8).s(7, Struct::default().i(1, 1).i(2, 0)).end(),
        );
        file.extend(one);
        let data = file.len() as i64;
        // One-bit indices, all in one run.
        let mut run = vec![1];
        varint(&mut run, rows << 1);
        run.push(0);
        let head = Struct::default().i(1, rows as i64).i(2, 8).i(3, 3).i(4, 3);
        let size = run.len() as i64;
        file.extend(Struct::default().i(1, 0).i(2, size).i(3, size).s(5, head).end());
        file.extend(run);
        let bytes = file.len() as i64 - start;
        let meta = Struct::default()
            .i(1, 5)
            .list(2, 5, vec![vec![0], vec![16]])
            .list(3, 8, vec![text(name)])
            .i(4, 0)
            .l(5, rows as i64)
            .l(6, bytes)
            .l(7, bytes)
            .l(9, data)
            .l(11, start);
        chunks.push(Struct::default().l(2, start).s(3, meta).end());
    }
    let mut schema = vec![Struct::default().b(4, "schema").i(5, columns.len() as i64).end()];
    schema.extend(columns.iter().map(|name| Struct::default().i(1, 5).i(3, 0).b(4, name).end()));
    let group = Struct::default().list(1, 12, chunks).l(2, file.len() as i64).l(3, rows as i64);
    let footer = Struct::default()
        .i(1, 1)
        .list(2, 12, schema)
        .l(3, rows as i64)
        .list(4, 12, vec![group.end()])
        .end();
    file.extend(&footer);
    file.extend((footer.len() as u32).to_le_bytes());
    file.extend(b"PAR1");
    file
}

/// A struct in Thrift's compact protocol, with fields in ascending order.
#[derive(Default)]
struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

impl Struct {
    fn field(mut self, id: u8, kind: u8, content: &[u8]) -> Self {
        self.bytes.push((id - self.last) << 4 | kind);
        self.bytes.extend(content);
        self.last = id;
        self
    }

    fn i(self, id: u8, value: i64) -> Self {
        self.field(id, 5, &zigzag(value))
    }

    fn l(self, id: u8, value: i64) -> Self {
        self.field(id, 6, &zigzag(value))
    }

    fn b(self, id: u8, value: &str) -> Self {
        self.field(id, 8, &text(value))
    }

    fn s(self, id: u8, value: Self) -> Self {
        self.field(id, 12, &value.end())
    }

    fn list(self, id: u8, kind: u8, items: Vec<Vec<u8>>) -> Self {
        let mut content = vec![(items.len().min(15) as u8) << 4 | kind];
        if items.len() >= 15 {
            varint(&mut content, items.len() as u64);
        }
        content.extend(items.concat());
        self.field(id, 9, &content)
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

fn text(value: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    varint(&mut bytes, value.len() as u64);
    bytes.extend(value.as_bytes());
    bytes
}

fn zigzag(value: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    varint(&mut bytes, (value << 1 ^ value >> 63) as u64);
    bytes
}

fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 128 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
}
