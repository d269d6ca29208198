//! Which endpoint a request path means, whatever comes before it.

use super::Api;

/// An endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// Ask a model.
    Ask(Api),
    /// Count the tokens of a request (Anthropic).
    CountTokens,
    /// List the models.
    Models,
    /// Show one model.
    Model(String),
    /// Known path, other method.
    WrongMethod(Api),
    /// Nothing we know.
    Unknown,
}

impl Route {
    /// Clients differ in the prefix their base URL ends with, so only the end of the path counts.
    pub(crate) fn of(method: &str, path: &str) -> Self {
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let (route, wanted) = match segments.as_slice() {
            [.., "chat", "completions"] => (Self::Ask(Api::OpenaiChat), "POST"),
            [.., "responses"] => (Self::Ask(Api::OpenaiResponses), "POST"),
            [.., "messages", "count_tokens"] => (Self::CountTokens, "POST"),
            [.., "messages"] => (Self::Ask(Api::Anthropic), "POST"),
            [.., "models"] => (Self::Models, "GET"),
            [.., "models", name] => (Self::Model((*name).to_owned()), "GET"),
            _ => return Self::Unknown,
        };
        match route {
            route if method == wanted => route,
            Self::Ask(api) => Self::WrongMethod(api),
            Self::CountTokens => Self::WrongMethod(Api::Anthropic),
            _ => Self::WrongMethod(Api::OpenaiChat),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_prefix_leads_to_the_endpoint() {
        for path in
            ["/v1/chat/completions", "/chat/completions", "/api/v1/chat/completions/", "//chat//completions"]
        {
            assert_eq!(Route::of("POST", path), Route::Ask(Api::OpenaiChat), "{path}");
        }
        assert_eq!(Route::of("POST", "/v1/responses"), Route::Ask(Api::OpenaiResponses));
        assert_eq!(Route::of("POST", "/v1/messages"), Route::Ask(Api::Anthropic));
        assert_eq!(Route::of("POST", "/v1/messages/count_tokens"), Route::CountTokens);
        assert_eq!(Route::of("GET", "/v1/models"), Route::Models);
        assert_eq!(Route::of("GET", "/v1/models/gpt"), Route::Model("gpt".to_owned()));
    }

    #[test]
    fn other_methods_and_paths_are_told_apart() {
        assert_eq!(Route::of("GET", "/v1/messages"), Route::WrongMethod(Api::Anthropic));
        assert_eq!(Route::of("POST", "/v1/models"), Route::WrongMethod(Api::OpenaiChat));
        assert_eq!(Route::of("GET", "/"), Route::Unknown);
        assert_eq!(Route::of("POST", "/v1/embeddings"), Route::Unknown);
    }
}
