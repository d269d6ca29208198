//! Talks to model vendors: one request type, one event stream, three formats.
