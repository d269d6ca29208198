//! Settings, models and servers from files: layers, trust, and what is wrong with them.
