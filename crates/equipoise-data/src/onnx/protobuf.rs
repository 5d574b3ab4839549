//! Protocol buffers: the few kinds of fields that ONNX needs.

/// A message under construction.
#[derive(Debug, Clone, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    /// A whole number.
    pub(super) fn number(mut self, field: u32, value: u64) -> Self {
        self.varint(u64::from(field << 3));
        self.varint(value);
        self
    }

    /// Bytes or text.
    pub(super) fn bytes(mut self, field: u32, value: impl AsRef<[u8]>) -> Self {
        let value = value.as_ref();
        self.varint(u64::from(field << 3 | 2));
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    /// A message in this one.
    pub(super) fn message(self, field: u32, value: &Self) -> Self {
        self.bytes(field, &value.0)
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}
