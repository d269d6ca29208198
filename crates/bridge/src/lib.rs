//! The NDJSON backend for apps in any language: agent sessions over stdin and stdout.
