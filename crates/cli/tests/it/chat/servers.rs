//! MCP servers in a chat.

use super::screen::Screen;
use crate::mcp::with_a_private_server;

#[test]
fn list_of_servers_has_the_command_for_a_missing_login() {
    let stage = with_a_private_server();
    let mut screen = Screen::start(&stage, &[]);
    screen.until_idle();
    // the first turn waits for the servers
    screen.press("hello\r");
    screen.until("A title");
    screen.until_idle();
    screen.press("/mcp\r");
    screen.until("run `musher mcp login wiki`");
    screen.until_idle();
    screen.quit();
}
