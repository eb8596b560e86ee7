//! The browser app inside the binary: the committed build of `dist/`, and the style that pages without scripts share.
//!
//! Knows no addresses and no headers beyond a file's own: `server` gives the files out. Nothing here builds the
//! app: `cargo xtask ui` does.

use std::borrow::Cow;
use std::fmt::Write;

use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "dist/"]
struct Dist;

/// One file of the build.
#[derive(Clone, Debug)]
pub struct Asset {
    pub bytes: Cow<'static, [u8]>,
    /// A strong entity tag with its quotes: SHA-256 of the bytes.
    pub etag: String,
    /// With the charset where it is text.
    pub content_type: String,
}

/// The file at a path of the build: `index.html`, `assets/index.js`.
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

/// Every path of the build.
pub fn paths() -> impl Iterator<Item = Cow<'static, str>> {
    Dist::iter()
}

/// Colours, sizes and controls, as the app has them.
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
