//! Maps a request path with any prefix to an endpoint.

use super::Api;

/// An endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// A model request.
    Ask(Api),
    /// A request for a token count (Anthropic).
    CountTokens,
    /// The list of models.
    Models,
    /// One model.
    Model(String),
    /// A known path with another method.
    WrongMethod(Api),
    /// An unknown path.
    Unknown,
}

impl Route {
    /// Clients differ in the prefix that their base URL ends with, so only the end of the path is compared.
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
    fn unknown_methods_and_unknown_paths_are_distinguished() {
        assert_eq!(Route::of("GET", "/v1/messages"), Route::WrongMethod(Api::Anthropic));
        assert_eq!(Route::of("POST", "/v1/models"), Route::WrongMethod(Api::OpenaiChat));
        assert_eq!(Route::of("GET", "/"), Route::Unknown);
        assert_eq!(Route::of("POST", "/v1/embeddings"), Route::Unknown);
    }
}
