//! New file that only its owner can read. Creating it fails if a file with this name exists. Dropping it deletes the
//! file unless it is finished.

use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::exit::usage;

pub(crate) struct NewFile {
    path: PathBuf,
    out: BufWriter<File>,
    is_whole: bool,
}

impl NewFile {
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        let created = File::options().write(true).create_new(true).mode(0o600).open(path);
        if created.as_ref().is_err_and(|error| error.kind() == ErrorKind::AlreadyExists) {
            return Err(usage(format!(
                "{} already exists and is not overwritten: name another file, or remove it first",
                path.display()
            )));
        }
        let file = created.with_context(|| format!("{} cannot be created", path.display()))?;
        Ok(Self { path: path.to_owned(), out: BufWriter::new(file), is_whole: false })
    }

    /// Writes all data of the new file to the disk, and keeps the file.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        let shown = || self.path.display().to_string();
        self.out.flush().with_context(shown)?;
        self.out.get_ref().sync_all().with_context(shown)?;
        self.is_whole = true;
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_whole {
            let _ = fs::remove_file(&self.path);
        }
    }
}
