//! Daemon: sessions that continue while their clients come and go. Needs the feature `daemon`.
//!
//! ```no_run
//! # #[cfg(feature = "daemon")]
//! # async fn example() -> musher::Result<()> {
//! use musher::Daemon;
//!
//! // `musher daemon`, on the socket in its home; `.droid()` connects to `droid daemon`
//! let daemon = Daemon::connect().await?;
//! let session = daemon.session().cwd("/workspace").open().await?;
//! println!("{}", session.send("Run the tests.").await?.text);
//!
//! // leave it there, and come back
//! let id = session.id();
//! session.detach().await;
//! let session = daemon.resume(id).open().await?;
//! if let Some(turn) = session.follow().await? {
//!     println!("{}", turn.finish().await?.text);
//! }
//! # Ok(()) }
//! ```
//!
//! One connection holds any number of sessions. When it breaks, it is made again and turns just continue; no prompt runs twice. `Daemon` says
//! what is replayed, and what happens to slow readers.
