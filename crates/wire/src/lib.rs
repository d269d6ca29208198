//! The Droid stream-jsonrpc protocol as types: parses and prints, does no IO.
