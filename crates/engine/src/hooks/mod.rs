//! Commands of the user that run at fixed moments and may refuse or change what happens.
