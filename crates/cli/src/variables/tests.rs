use std::fmt::Write as _;
use std::path::Path;

use super::*;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/configuration.md");
    fs_err::read_to_string(path).unwrap()
}

/// Returns the rows of the table that follows a heading.
fn table_below(page: &str, heading: &str) -> String {
    let (_, rest) = page.split_once(&format!("## {heading}\n")).unwrap();
    let rows =
        rest.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    rows.flat_map(|row| [row, "\n"]).collect()
}

#[test]
fn page_has_all_variables_and_no_others() {
    let mut expected = "| variable | what it says | if it is not set |\n| --- | --- | --- |\n".to_owned();
    for Variable { name, meaning, otherwise } in VARIABLES {
        writeln!(expected, "| `{name}` | {meaning} | {otherwise} |").unwrap();
    }
    assert_eq!(
        table_below(&page(), "Variables"),
        expected,
        "this is what docs/guide/configuration.md must say"
    );
}

#[test]
fn page_has_the_variables_of_all_vendors() {
    let mut expected = "| vendor | key | address |\n| --- | --- | --- |\n".to_owned();
    for vendor in musher_model::vendors() {
        let keys: Vec<String> = vendor.keys.iter().map(|key| format!("`{key}`")).collect();
        let keys = if keys.is_empty() { "none".to_owned() } else { keys.join(" or ") };
        let address = vendor.address.map_or_else(String::new, |address| format!("`{address}`"));
        writeln!(expected, "| {} | {keys} | {address} |", vendor.display_name).unwrap();
    }
    assert_eq!(
        table_below(&page(), "Keys of vendors"),
        expected,
        "this is what docs/guide/configuration.md must say"
    );
}
