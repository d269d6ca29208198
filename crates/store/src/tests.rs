//! The store as a whole: what is written is read again, whatever happens in between.

mod branches;
mod damage;
mod faults;
mod life;
mod locks;
mod planted;
mod removal;
mod rewind;
mod stage;
