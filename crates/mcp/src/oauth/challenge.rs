//! The `WWW-Authenticate` header of a refused request. Pure.

/// What a server says when it refuses a request for lack of a valid token.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Challenge {
    /// The URL of the metadata of the server.
    pub(crate) metadata: Option<String>,
    /// The scopes that the request needs.
    pub(crate) scope: Option<String>,
    /// The error code, such as `invalid_token` or `insufficient_scope`.
    pub(crate) error: Option<String>,
}

impl Challenge {
    /// Reads the parameters of the `Bearer` scheme. What is malformed is left out.
    pub(crate) fn parse(header: &str) -> Self {
        let mut challenge = Self::default();
        for (name, value) in parameters(header) {
            match name.to_ascii_lowercase().as_str() {
                "resource_metadata" => challenge.metadata = Some(value),
                "scope" => challenge.scope = Some(value),
                "error" => challenge.error = Some(value),
                _ => {}
            }
        }
        challenge
    }

    /// Returns whether a new login with more scopes would help.
    pub(crate) fn lacks_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

/// Splits `Bearer a="b", c=d` into names and values.
fn parameters(header: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = header;
    while let Some(equals) = rest.find('=') {
        let name = rest[..equals].rsplit([' ', ',', '\t']).next().unwrap_or_default().to_owned();
        let behind = &rest[equals + 1..];
        let (value, end) = behind.strip_prefix('"').map_or_else(|| token(behind), unquoted);
        found.push((name, value));
        rest = end;
    }
    found
}

/// Reads up to a separator. Returns the text, and what follows.
fn token(text: &str) -> (String, &str) {
    let end = text.find([',', ' ']).unwrap_or(text.len());
    (text[..end].to_owned(), &text[end..])
}

/// Reads up to the closing quote. Returns the text, and what follows.
fn unquoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return (value, &text[at + 1..]),
            '\\' => value.extend(chars.next().map(|(_, char)| char)),
            char => value.push(char),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_in_any_order_quoted_or_not() {
        let header = r#"Bearer error="invalid_token", error_description="say \"no\", please", resource_metadata="https://h/.well-known/x?a=b", scope="a b""#;
        let challenge = Challenge::parse(header);
        assert_eq!(challenge.metadata.as_deref(), Some("https://h/.well-known/x?a=b"));
        assert_eq!(
            (challenge.scope.as_deref(), challenge.error.as_deref()),
            (Some("a b"), Some("invalid_token"))
        );
        let challenge = Challenge::parse("Bearer Scope=a, error=insufficient_scope");
        assert!(challenge.lacks_scope() && challenge.scope.as_deref() == Some("a"));
        for empty in ["", "Bearer", "Basic realm", "=\"", "Bearer x=\"y"] {
            assert_eq!(Challenge::parse(empty), Challenge::default(), "{empty}");
        }
    }
}
