//! The browser app inside the binary: the committed build in `dist/`, and the style sheet of pages without scripts.
//!
//! This crate has no routes, and only the headers that depend on a file. The crate `server` serves the files. `cargo
//! xtask ui` builds the app; this crate does not.

use std::borrow::Cow;
use std::fmt::Write;

use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "dist/"]
struct Dist;

/// File of the build.
#[derive(Clone, Debug)]
pub struct Asset {
    pub bytes: Cow<'static, [u8]>,
    /// Strong entity tag, including its quotes: the SHA-256 of the file.
    pub etag: String,
    /// MIME type, with the charset for text files.
    pub content_type: String,
}

/// Returns the file at a path of the build, such as `index.html` or `assets/index.js`.
pub fn asset(path: &str) -> Option<Asset> {
    let file = Dist::get(path)?;
    let mut etag = String::new();
    for byte in file.metadata.sha256_hash() {
        let _ = write!(etag, "{byte:02x}");
    }
    let mime = file.metadata.mimetype();
    let is_text = mime.starts_with("text/");
    Some(Asset {
        bytes: file.data,
        etag: format!("\"{etag}\""),
        content_type: if is_text { format!("{mime}; charset=utf-8") } else { mime.to_owned() },
    })
}

/// Returns the paths of all files of the build.
pub fn paths() -> impl Iterator<Item = Cow<'static, str>> {
    Dist::iter()
}

/// Style sheet with the app's colours, sizes and controls.
pub const STYLE: &str =
    concat!(include_str!("../src/style/tokens.css"), include_str!("../src/style/base.css"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_there_and_every_file_has_a_type() {
        let page = asset("index.html").unwrap();
        assert!(page.bytes.starts_with(b"<!doctype html>"));
        assert_eq!((&*page.content_type, page.etag.len()), ("text/html; charset=utf-8", 66));
        for path in paths() {
            let asset = asset(&path).unwrap();
            assert_ne!(asset.content_type, "application/octet-stream", "{path}");
        }
        assert!(asset("../Cargo.toml").is_none() && asset("nothing.js").is_none());
    }
}
