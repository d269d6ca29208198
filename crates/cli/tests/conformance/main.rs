//! What an official client sees of `musher exec`, beside what it sees of the real droid: the suite of the crate `conformance`.

mod peers {
    conformance::scenarios!(conformance::Executable::Musher(env!("CARGO_BIN_EXE_musher").into()));
    conformance::clients!(conformance::Executable::Musher(env!("CARGO_BIN_EXE_musher").into()));
}
