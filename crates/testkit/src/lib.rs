//! Test support: real agents in a network namespace, scripted models, captures.
