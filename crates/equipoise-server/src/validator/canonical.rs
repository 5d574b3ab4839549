//! The canonical table: the rows of a proxy in one format, whatever the format of the file, and what it says about its
//! privacy. The solver reads only these.

use std::fs::File;
use std::io::{BufWriter, Write, sink};
use std::path::Path;

use equipoise_data::{
    DistinctRowCounter, Error, Hasher, OpenProxy, ProxyWriter, ReadLimits, Schema,
};

use crate::protocol::Validated;

/// Reads a trusted proxy, and computes what a server with this version of the program finds in it. Nothing is written.
pub fn digest_proxy(path: &Path, schema: &Schema) -> Result<Validated, Error> {
    let unreadable = |source| Error::Read { file: path.to_path_buf(), source };
    let file = File::open(path).map_err(unreadable)?;
    write_canonical((file, path), schema, ReadLimits::NONE, (sink(), path))
}

/// Reads a proxy and writes its canonical table, chunk by chunk, so that neither is in memory as a whole. Paths appear in
/// errors, and the extension of the proxy determines its format.
pub(super) fn write_canonical<W: Write + Send>(
    (file, path): (File, &Path),
    schema: &Schema,
    limits: ReadLimits,
    (out, out_path): (W, &Path),
) -> Result<Validated, Error> {
    let failed = |source| Error::Write { file: out_path.to_path_buf(), source };
    let mut hasher = Hasher::default();
    let mut out = BufWriter::new(Hashed { out, hasher: &mut hasher });
    let proxy = OpenProxy::new(file, path, limits)?;
    let mut writer = ProxyWriter::new(&mut out, schema);
    writer.set_origin(&proxy.declared()?);
    let mut distinct = DistinctRowCounter::default();
    let rows = proxy.visit(schema, |rows| {
        distinct.add(rows);
        writer.push(rows).map_err(failed)
    })?;
    writer.finish().and_then(|()| out.flush()).map_err(failed)?;
    drop(out);
    let canonical_sha256 = hasher.finish();
    Ok(Validated { canonical_sha256, rows, distinct_rows: distinct.count() })
}

struct Hashed<'a, W> {
    out: W,
    hasher: &'a mut Hasher,
}

impl<W: Write> Write for Hashed<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.hasher.update(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}
