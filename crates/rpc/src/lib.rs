//! Moves protocol frames: lines, child processes, WebSocket, memory pairs, and one peer that correlates ids.
