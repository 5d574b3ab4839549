//! Numbers as bytes, for messages between processes on machines of the same byte order.

use crate::error::Error;

/// Appends numbers to a message.
#[derive(Debug, Default)]
pub struct WireWriter(Vec<u8>);

impl WireWriter {
    /// One count.
    pub fn count(&mut self, value: usize) {
        self.0.extend_from_slice(&(value as u64).to_ne_bytes());
    }

    /// Their number, then the numbers.
    pub fn numbers(&mut self, values: &[f64]) {
        self.count(values.len());
        values.iter().for_each(|value| self.0.extend_from_slice(&value.to_ne_bytes()));
    }

    /// Their number, then the integers.
    pub fn integers(&mut self, values: impl ExactSizeIterator<Item = u64>) {
        self.count(values.len());
        values.for_each(|value| self.0.extend_from_slice(&value.to_ne_bytes()));
    }

    /// A text, if there is one.
    pub fn text(&mut self, text: Option<&str>) {
        let bytes = text.unwrap_or_default().as_bytes();
        self.count(usize::from(text.is_some()));
        self.count(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    /// The message.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Reads a message in the order in which it was written.
#[derive(Debug)]
pub struct WireReader<'a>(&'a [u8]);

impl<'a> WireReader<'a> {
    /// A message.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// One count.
    pub fn count(&mut self) -> Result<usize, Error> {
        let [value] = self.words(1)? else { return Err(damaged()) };
        usize::try_from(u64::from_ne_bytes(*value)).map_err(|_| damaged())
    }

    /// Numbers.
    pub fn numbers(&mut self) -> Result<Vec<f64>, Error> {
        let n = self.count()?;
        Ok(self.words(n)?.iter().map(|word| f64::from_ne_bytes(*word)).collect())
    }

    /// Integers.
    pub fn integers(&mut self) -> Result<Vec<u64>, Error> {
        let n = self.count()?;
        Ok(self.words(n)?.iter().map(|word| u64::from_ne_bytes(*word)).collect())
    }

    /// A text, if there is one.
    pub fn text(&mut self) -> Result<Option<String>, Error> {
        let (is_some, length) = (self.count()? != 0, self.count()?);
        let text = String::from_utf8(self.bytes(length)?.to_vec()).map_err(|_| damaged())?;
        Ok(is_some.then_some(text))
    }

    /// Fails if the message goes on.
    pub fn end(self) -> Result<(), Error> {
        if self.0.is_empty() { Ok(()) } else { Err(damaged()) }
    }

    fn words(&mut self, n: usize) -> Result<&'a [[u8; 8]], Error> {
        let length = n.checked_mul(8).ok_or_else(damaged)?;
        Ok(self.bytes(length)?.as_chunks().0)
    }

    fn bytes(&mut self, length: usize) -> Result<&'a [u8], Error> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or_else(damaged)?;
        self.0 = rest;
        Ok(bytes)
    }
}

fn damaged() -> Error {
    Error::Invalid(
        "a message between processes is damaged. Do all of them run the same version?".to_owned(),
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn messages_are_read_as_they_were_written_and_no_further() {
        let mut message = WireWriter::default();
        message.count(3);
        message.numbers(&[0.1, -0.0, f64::INFINITY]);
        message.integers([u64::MAX, 0].into_iter());
        message.text(Some("ε"));
        message.text(Some(""));
        message.text(None);
        let bytes = message.finish();
        let mut reader = WireReader::new(&bytes);
        assert_eq!(reader.count().unwrap(), 3);
        let numbers = reader.numbers().unwrap();
        assert_eq!(
            numbers.iter().map(|v| v.to_bits()).collect::<Vec<_>>(),
            [0.1, -0.0, f64::INFINITY].map(f64::to_bits)
        );
        assert_eq!(reader.integers().unwrap(), [u64::MAX, 0]);
        let texts = [(); 3].map(|()| reader.text().unwrap());
        assert_eq!(texts, [Some("ε".to_owned()), Some(String::new()), None]);
        reader.end().unwrap();
        assert!(WireReader::new(&bytes).end().is_err());
        for end in [0, 7, 12] {
            let mut short = WireReader::new(&bytes[..end]);
            assert!(short.count().and_then(|_| short.numbers()).is_err());
        }
    }
}
