//! Getting a dataset's file from its public home: over HTTPS, checked while it comes, whole or not at all.
//!
//! A server is trusted with nothing. The connection must be certified, redirects must stay on https, the
//! body may neither stall nor grow without end, and what comes must hash to the digest that the program
//! knows; until then it is a temporary file, which is gone if anything fails.

mod connection;
mod problem;
mod proxy;

use std::fs::File;
use std::io::ErrorKind::{Interrupted, NotADirectory, NotFound};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use equipoise_data::{check_output, write_atomically};
use sha2::{Digest, Sha256};

use connection::{Body, Connection};

pub use problem::FetchProblem;
pub use proxy::HttpsProxy;

use crate::dataset::{Dataset, hex};
use crate::error::Error;

/// From where, and with how much patience.
#[derive(Debug, Clone)]
pub struct FetchSettings {
    /// Where to fetch from, instead of the dataset's home; https only.
    pub url: Option<String>,
    /// Replace a file that is there and is another one.
    pub force: bool,
    /// A PEM file of certificates to trust, instead of those that browsers trust.
    pub ca_file: Option<PathBuf>,
    /// The proxy to go through.
    pub proxy: Option<HttpsProxy>,
    /// How long finding the server, and then connecting to it, may take. Default 15 s.
    pub connect_timeout: Duration,
    /// How long the server may send nothing. Default 30 s.
    pub stall_timeout: Duration,
    /// How long all of it may take. Default 30 minutes.
    pub total_timeout: Duration,
    /// The largest file that is let in. Default 64 MB, far above any of the datasets.
    pub max_bytes: u64,
}

impl Default for FetchSettings {
    fn default() -> Self {
        Self {
            url: None,
            force: false,
            ca_file: None,
            proxy: None,
            connect_timeout: Duration::from_secs(15),
            stall_timeout: Duration::from_secs(30),
            total_timeout: Duration::from_secs(30 * 60),
            max_bytes: 64_000_000,
        }
    }
}

/// A dataset's file that is in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The file.
    pub file: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Whether it was downloaded; if not, it was there before.
    pub downloaded: bool,
}

/// Told how many bytes have come, and of how many where the server said so.
pub type OnBytes<'a> = &'a mut dyn FnMut(u64, Option<u64>);

impl Dataset {
    /// Puts the dataset's file into a folder, which is made if it is not there. A file that is there and
    /// is the right one stays, and nothing is downloaded.
    pub fn fetch(
        &self,
        folder: &Path,
        settings: &FetchSettings,
        on_bytes: OnBytes<'_>,
    ) -> Result<Fetched, Error> {
        let url = settings.url.as_deref().unwrap_or(self.home);
        let failed = |problem| Error::Fetch {
            url: url.to_owned(),
            proxy: settings.proxy.as_ref().and_then(|proxy| proxy.address_for(url)),
            problem,
        };
        let connection = Connection::prepare(url, settings).map_err(failed)?;
        let file = folder.join(self.file);
        if let Some(bytes) = self.bytes_if_there(&file, settings.force)? {
            return Ok(Fetched { file, bytes, downloaded: false });
        }
        let folder = NewFolder::make(folder)?;
        check_output(&file, settings.force)?;

        // A failure of the network is not one of writing: it leaves the writer by a way of its own.
        let mut problem = None;
        let written = write_atomically(&file, settings.force, |out| {
            let result = match connection.open() {
                Ok(mut body) => download(&mut body, self.sha256, settings, out, on_bytes)?,
                Err(problem) => Err(problem),
            };
            result.map_err(|found| {
                problem = Some(found);
                io::Error::other("the download failed")
            })
        });
        if let Some(problem) = problem {
            return Err(failed(problem));
        }
        let bytes = written?;
        folder.keep();
        Ok(Fetched { file, bytes, downloaded: true })
    }

    /// The size of the file if it is there and is the right one. Another one is an error, unless it may be
    /// replaced.
    fn bytes_if_there(&self, file: &Path, force: bool) -> Result<Option<u64>, Error> {
        let unreadable =
            |source| equipoise_data::Error::Read { file: file.to_path_buf(), source }.into();
        match std::fs::metadata(file) {
            // What is neither there nor a regular file is for the writer to judge.
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return Ok(None),
            Err(error) => return Err(unreadable(error)),
            Ok(found) if !found.is_file() => return Ok(None),
            Ok(_) => {}
        }
        let (bytes, found) = digest(File::open(file).map_err(unreadable)?).map_err(unreadable)?;
        match self.check_digest(file, found) {
            Ok(()) => Ok(Some(bytes)),
            Err(_) if force => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// Copies the body to `out` and hashes it on the way. Outer errors are those of writing.
fn download(
    body: &mut Body,
    sha256: &str,
    settings: &FetchSettings,
    out: &mut (dyn Write + Send),
    on_bytes: OnBytes<'_>,
) -> io::Result<Result<u64, FetchProblem>> {
    let limit = settings.max_bytes;
    if body.length.is_some_and(|length| length > limit) {
        return Ok(Err(FetchProblem::TooLarge { limit }));
    }
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    let mut bytes = 0;
    loop {
        let n = match body.reader.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => n,
            Err(error) => {
                return Ok(Err(FetchProblem::reading(error, (bytes, body.length), settings)));
            }
        };
        bytes += n as u64;
        if bytes > limit {
            return Ok(Err(FetchProblem::TooLarge { limit }));
        }
        hasher.update(&chunk[..n]);
        out.write_all(&chunk[..n])?;
        on_bytes(bytes, body.length);
    }
    let found = hex(&hasher.finalize());
    if found == sha256 {
        Ok(Ok(bytes))
    } else {
        Ok(Err(FetchProblem::Digest { expected: sha256.to_owned(), found }))
    }
}

/// Size and sha256 of what a reader holds.
pub(crate) fn digest(mut content: impl Read) -> io::Result<(u64, String)> {
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    let mut bytes = 0;
    loop {
        match content.read(&mut chunk) {
            Ok(0) => return Ok((bytes, hex(&hasher.finalize()))),
            Ok(n) => {
                bytes += n as u64;
                hasher.update(&chunk[..n]);
            }
            Err(error) if error.kind() == Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A folder that is there; if we made it, it goes again unless kept.
struct NewFolder<'a> {
    made: Option<&'a Path>,
}

impl<'a> NewFolder<'a> {
    fn make(folder: &'a Path) -> Result<Self, Error> {
        if folder.is_dir() {
            return Ok(Self { made: None });
        }
        std::fs::create_dir(folder)
            .map_err(|source| Error::Folder { folder: folder.display().to_string(), source })?;
        Ok(Self { made: Some(folder) })
    }

    fn keep(mut self) {
        self.made = None;
    }
}

impl Drop for NewFolder<'_> {
    fn drop(&mut self) {
        if let Some(folder) = self.made {
            // Only an empty folder goes: what somebody put there meanwhile stays, and so does the folder.
            let _ = std::fs::remove_dir(folder);
        }
    }
}
