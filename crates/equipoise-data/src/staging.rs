//! Files and folders under construction, so that an interrupted program can remove them.
//!
//! An output is written under a temporary name and renamed when it is complete. An error drops the temporary file, but a
//! signal drops nothing. So every temporary path is listed here for as long as it exists, and whoever receives the signal
//! calls [`remove_staged`]. Unnamed files would need no list, but no folder can be unnamed, and some file systems do not
//! offer such files: one list covers everything.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Held during steps that an interruption must not split.
static STEP: Mutex<()> = Mutex::new(());
/// What to remove, and how.
static LISTED: Mutex<BTreeMap<PathBuf, Removal>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// Whether this thread holds [`STEP`].
    static IN_STEP: Cell<bool> = const { Cell::new(false) };
}

/// Other threads may still be writing to a folder that is being removed.
const ATTEMPTS: usize = 100;
const PAUSE: Duration = Duration::from_millis(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Removal {
    /// A file, or a folder with everything in it.
    Whole,
    /// A folder, unless it holds anything by then.
    IfEmpty,
}

/// Runs a short step that an interruption must not split: the program ends before it or after it. Steps may be nested, on
/// one thread.
pub fn uninterrupted<T>(step: impl FnOnce() -> T) -> T {
    if IN_STEP.get() {
        return step();
    }
    let _lock = lock(&STEP);
    let _in_step = InStep::enter();
    step()
}

/// A path that is removed if the program is interrupted. Dropping this drops the item, which may remove the path too, as
/// temporary files do.
#[derive(Debug)]
pub struct Staged<T: AsRef<Path>> {
    item: T,
    listed: Listed,
}

impl<T: AsRef<Path>> Staged<T> {
    /// Creates a file or folder.
    pub fn create<E>(create: impl FnOnce() -> Result<T, E>) -> Result<Self, E> {
        uninterrupted(|| {
            let item = create()?;
            let listed = Listed::new(item.as_ref(), Removal::Whole);
            Ok(Self { item, listed })
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.item.as_ref()
    }

    /// The item, to write to.
    pub fn item_mut(&mut self) -> &mut T {
        &mut self.item
    }

    /// Runs the last step, which moves the item to its final place. It is not interrupted.
    pub fn finish<R>(self, step: impl FnOnce(T) -> R) -> R {
        let Self { item, listed } = self;
        uninterrupted(|| {
            let result = step(item);
            drop(listed);
            result
        })
    }
}

/// New folders that an interruption removes as long as they are empty.
#[derive(Debug)]
pub struct NewFolders {
    _listed: Vec<Listed>,
}

impl NewFolders {
    /// Creates a folder in one that exists. If it exists, this is an error.
    pub fn create(path: &Path) -> io::Result<Self> {
        uninterrupted(|| {
            std::fs::create_dir(path)?;
            Ok(Self { _listed: vec![Listed::new(path, Removal::IfEmpty)] })
        })
    }

    /// Creates a folder and its missing parents, unless they exist.
    pub fn create_all(path: &Path) -> io::Result<Self> {
        uninterrupted(|| {
            let mut missing: Vec<&Path> = path
                .ancestors()
                .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
                .collect();
            missing.reverse();
            std::fs::create_dir_all(path)?;
            let listed = missing.into_iter().map(|folder| Listed::new(folder, Removal::IfEmpty));
            Ok(Self { _listed: listed.collect() })
        })
    }
}

/// Removes everything that is staged. From then on nothing can be staged or finished: the caller must end the process.
pub fn remove_staged() {
    std::mem::forget(lock(&STEP));
    let listed = lock(&LISTED).clone();
    // Folders come before what they contain.
    for (path, removal) in listed.iter().rev() {
        remove(path, *removal);
    }
}

fn remove(path: &Path, removal: Removal) {
    for _ in 0..ATTEMPTS {
        let removed = match (removal, path.is_dir() && !path.is_symlink()) {
            (Removal::IfEmpty, _) => return drop(std::fs::remove_dir(path)),
            (Removal::Whole, true) => std::fs::remove_dir_all(path),
            (Removal::Whole, false) => std::fs::remove_file(path),
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => std::thread::sleep(PAUSE),
            _ => return,
        }
    }
}

/// An entry of the list, while it exists.
#[derive(Debug)]
struct Listed(PathBuf);

impl Listed {
    fn new(path: &Path, removal: Removal) -> Self {
        lock(&LISTED).insert(path.to_path_buf(), removal);
        Self(path.to_path_buf())
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        lock(&LISTED).remove(&self.0);
    }
}

/// Marks this thread as the one in a step, also if the step panics.
struct InStep;

impl InStep {
    fn enter() -> Self {
        IN_STEP.set(true);
        Self
    }
}

impl Drop for InStep {
    fn drop(&mut self) {
        IN_STEP.set(false);
    }
}

/// A step that panicked leaves nothing half-changed here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
