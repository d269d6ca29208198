//! The files of the page, compressed by the build script.

/// A file of the page.
pub(super) struct Asset {
    pub(super) name: &'static str,
    pub(super) gzip: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/console.rs"));

/// Returns a file by its path in `web/`.
pub(super) fn find(name: &str) -> Option<&'static Asset> {
    FILES.iter().find(|asset| asset.name == name)
}

impl Asset {
    /// Returns the media type, from the ending of the name.
    pub(super) fn kind(&self) -> &'static str {
        match self.name.rsplit('.').next() {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            Some("png") => "image/png",
            Some("webmanifest") => "application/manifest+json",
            _ => "text/plain; charset=utf-8",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_is_smaller_than_its_limit() {
        let bytes: usize = FILES.iter().map(|asset| asset.gzip.len()).sum();
        assert!(bytes < 300 * 1024, "{bytes} bytes compressed");
        for name in ["index.html", "sw.js", "main.js", "style.css", "manifest.webmanifest"] {
            assert!(find(name).is_some(), "{name}");
        }
        assert_eq!(HASH.len(), 16);
    }

    #[test]
    fn media_type_follows_from_the_name() {
        assert_eq!(find("main.js").unwrap().kind(), "text/javascript; charset=utf-8");
        assert_eq!(find("index.html").unwrap().kind(), "text/html; charset=utf-8");
    }
}
