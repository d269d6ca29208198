//! Embeds the console: compresses each file of `src/console/web`, and names them all by one hash.
//!
//! A build script and no macro crate: only the compressed bytes are in the program, and no code that decompresses them. All files lie
//! under one hashed directory, so modules import each other by their plain names and no file has to be rewritten.

use std::collections::hash_map::DefaultHasher;
use std::error::Error;
use std::fmt::Write as _;
use std::hash::Hasher as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use fs_err as fs;

/// The files that name the hashed directory, and are served beside it.
const SHELL: [&str; 2] = ["index.html", "sw.js"];

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("src/console/web");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    println!("cargo::rerun-if-changed=src/console/web");
    println!("cargo::rerun-if-changed=build.rs");
    let mut files = Vec::new();
    collect(&root, &root, &mut files)?;
    files.sort();
    let mut hasher = DefaultHasher::new();
    for (name, bytes) in &files {
        hasher.write(name.as_bytes());
        hasher.write(bytes);
    }
    let hash = format!("{:016x}", hasher.finish());
    let modules: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let mut table =
        format!("pub(super) const HASH: &str = {hash:?};\npub(super) static FILES: &[Asset] = &[\n");
    for (at, (name, bytes)) in files.iter().enumerate() {
        let bytes =
            if SHELL.contains(&name.as_str()) { filled(bytes, &hash, &modules)? } else { bytes.clone() };
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&bytes)?;
        let file = out.join(format!("console-{at}.gz"));
        fs::write(&file, encoder.finish()?)?;
        let file = file.display().to_string();
        writeln!(table, "    Asset {{ name: {name:?}, gzip: include_bytes!({file:?}) }},")?;
    }
    table.push_str("];\n");
    fs::write(out.join("console.rs"), table)?;
    Ok(())
}

/// Reads all files below a directory, with their paths relative to the root.
fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
        } else if path.extension().is_some_and(|ending| ending != "ts") {
            files.push((path.strip_prefix(root)?.to_string_lossy().into_owned(), fs::read(&path)?));
        }
    }
    Ok(())
}

fn ending(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or_default()
}

/// Fills the hash and the names of the files into a file of the shell.
fn filled(bytes: &[u8], hash: &str, files: &[&str]) -> Result<Vec<u8>, Box<dyn Error>> {
    let text = std::str::from_utf8(bytes)?;
    let scripts = files.iter().filter(|name| ending(name) == "js" && **name != "sw.js");
    let preloads: Vec<String> = scripts
        .map(|name| format!("<link rel=\"modulepreload\" href=\"/console/a/{hash}/{name}\">"))
        .collect();
    let served = files.iter().filter(|name| !SHELL.contains(name) && ending(name) != "txt");
    let urls: Vec<String> = served.map(|name| format!("\"/console/a/{hash}/{name}\"")).collect();
    let text = text.replace("{{hash}}", hash).replace("{{preloads}}", &preloads.join("\n"));
    Ok(text.replace("\"{{files}}\"", &urls.join(",")).into_bytes())
}
