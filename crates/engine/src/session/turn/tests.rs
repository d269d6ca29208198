//! The course of turns, without an agent around them.
