//! The store as a whole: what is written is read again, whatever happens in between.

mod damage;
mod life;
mod stage;
