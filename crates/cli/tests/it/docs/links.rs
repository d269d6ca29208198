//! Every link between our own pages leads to a page, and to a heading of it; the book has all pages.

use std::path::Path;

use super::{name, pages, root};

/// The targets of the links of a page, outside of code.
fn links(page: &str) -> Vec<String> {
    let mut is_code = false;
    let mut links = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code || line.starts_with("    ") {
            continue;
        }
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        links.extend(targets.map(|(target, _)| target.to_owned()));
    }
    links
}

/// The names that headings have as targets.
fn headings(page: &str) -> Vec<String> {
    let headings =
        page.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let plain = |heading: &str| {
        let kept = heading
            .to_lowercase()
            .chars()
            .filter(|it| it.is_alphanumeric() || " -_".contains(*it))
            .collect::<String>();
        kept.replace(' ', "-")
    };
    headings.map(plain).collect()
}

fn is_dead(page: &Path, link: &str) -> bool {
    let (path, heading) = link.split_once('#').unwrap_or((link, ""));
    let target = if path.is_empty() { page.to_owned() } else { page.parent().unwrap().join(path) };
    if !target.exists() {
        return true;
    }
    if heading.is_empty() || target.extension().is_none_or(|ending| ending != "md") {
        return false;
    }
    !headings(&fs_err::read_to_string(target).unwrap()).iter().any(|known| known == heading)
}

#[test]
fn every_link_leads_somewhere() {
    let mut dead = Vec::new();
    for page in pages() {
        let text = fs_err::read_to_string(&page).unwrap();
        let ours =
            links(&text).into_iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:"));
        dead.extend(ours.filter(|link| is_dead(&page, link)).map(|link| format!("{}: {link}", name(&page))));
    }
    assert_eq!(dead, Vec::<String>::new());
}

#[test]
fn book_has_all_pages_of_the_docs() {
    let summary = root().join("docs/SUMMARY.md");
    let listed = links(&fs_err::read_to_string(&summary).unwrap());
    let listed: Vec<_> = listed.iter().map(|link| name(&summary.with_file_name(link))).collect();
    let pages = pages().into_iter().filter(|page| *page != summary).map(|page| name(&page));
    let missing: Vec<_> = pages.filter(|page| page.starts_with("docs/") && !listed.contains(page)).collect();
    assert_eq!(missing, Vec::<String>::new(), "in docs/SUMMARY.md");
}

#[test]
fn dead_link_would_be_found() {
    let readme = root().join("README.md");
    assert!(is_dead(&readme, "no/such.md") && is_dead(&readme, "#no-such-heading"));
    assert!(!is_dead(&readme, "docs/guide/start.md#start-here"));
    assert_eq!(links("a [b](c.md#d) and [e](f)\n```\n[g](h)\n```\n"), ["c.md#d", "f"]);
}
