//! Tests of the store: written records can be read again, despite damage and failures.

mod branches;
mod damage;
mod faults;
mod intact;
mod locks;
mod reading;
mod removal;
mod rewind;
mod support;
mod untrusted_files;
