//! Archive formats, and the archive that people unpack by hand. Equal files give an archive with equal bytes.

use std::io::{Cursor, Write};

use anyhow::Result;
use flate2::{Compression, GzBuilder};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::{Entry, Release};

/// Modification time of all files in archives: 1980-01-01, the earliest that a ZIP archive can store, in seconds since
/// 1970.
const TIME_S: u64 = 315_532_800;

/// Builds `holdshort-VERSION-ARCH-linux-gnu.tar.gz`, which contains one folder with the same name.
pub(super) fn package(release: &Release, unit: String) -> Result<(String, Vec<u8>)> {
    let folder = format!("holdshort-{}-{}-linux-gnu", release.version, release.target.rust);
    let mut entries = vec![
        Entry::program(format!("{folder}/holdshort"), &release.program),
        Entry::text(format!("{folder}/holdshort.service"), unit),
    ];
    let documents = release.documents.iter();
    entries.extend(documents.map(|(name, text)| Entry::text(format!("{folder}/{name}"), text.as_str())));
    Ok((format!("{folder}.tar.gz"), tar_gz(entries)?))
}

/// Builds a tar.gz archive. Entries are sorted by name, owned by root, and have a fixed modification time.
pub(super) fn tar_gz(mut entries: Vec<Entry>) -> Result<Vec<u8>> {
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    let gzip = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
    let mut tar = tar::Builder::new(gzip);
    for Entry { path, mode, bytes } in entries {
        let mut header = tar::Header::new_ustar();
        header.set_mode(mode);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(TIME_S);
        header.set_size(bytes.len() as u64);
        tar.append_data(&mut header, path, bytes.as_slice())?;
    }
    Ok(tar.into_inner()?.finish()?)
}

/// Builds a ZIP archive with the entries in the given order, because the last entry of a wheel must be the list of its
/// files.
pub(super) fn zip(entries: Vec<Entry>) -> Result<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for Entry { path, mode, bytes } in entries {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            .unix_permissions(mode);
        zip.start_file(path, options)?;
        zip.write_all(&bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}
