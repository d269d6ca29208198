//! The standard variables of OpenTelemetry that apply here. Pure.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::percent_decode_str;

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const TIMEOUT: &str = "OTEL_EXPORTER_OTLP_TIMEOUT";
const PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";
const SERVICE_NAME: &str = "OTEL_SERVICE_NAME";
const RESOURCE: &str = "OTEL_RESOURCE_ATTRIBUTES";
const DISABLED: &str = "OTEL_SDK_DISABLED";

/// The default of the specification.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Where and how spans are sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Config {
    pub(super) url: String,
    pub(super) headers: HeaderMap,
    pub(super) timeout: Duration,
    /// What all spans share: the service, its version and its process.
    pub(super) resource: Vec<(String, String)>,
}

impl Config {
    /// Reads the variables. `None` if no endpoint is set or the export is disabled.
    pub(crate) fn read(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>, String> {
        let value = |name: &str| variable(name).filter(|value| !value.is_empty());
        let is_disabled = value(DISABLED).is_some_and(|value| value.eq_ignore_ascii_case("true"));
        // the endpoint of one signal is used as it is, the endpoint of all signals is a prefix
        let url = value(TRACES_ENDPOINT)
            .or_else(|| value(ENDPOINT).map(|base| format!("{}/v1/traces", base.trim_end_matches('/'))));
        let Some(url) = url.filter(|_| !is_disabled) else { return Ok(None) };
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(format!("invalid {ENDPOINT}: it must start with http:// or https://"));
        }
        if let Some(protocol) = value(PROTOCOL)
            && !protocol.starts_with("http/")
        {
            return Err(format!("invalid {PROTOCOL} `{protocol}`: musher exports over http/json"));
        }
        let timeout = match value(TIMEOUT) {
            None => DEFAULT_TIMEOUT,
            Some(text) => Duration::from_millis(text.parse().map_err(|_invalid| {
                format!("invalid {TIMEOUT} `{text}`: it must be a number of milliseconds")
            })?),
        };
        let mut headers = HeaderMap::new();
        headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in pairs(HEADERS, value(HEADERS))? {
            let invalid = || format!("invalid {HEADERS}: the header `{name}` cannot be sent");
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_invalid| invalid())?;
            let mut value = HeaderValue::from_str(&value).map_err(|_invalid| invalid())?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let mut resource = vec![
            ("service.name".to_owned(), "musher".to_owned()),
            ("service.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("process.pid".to_owned(), std::process::id().to_string()),
        ];
        let mut set =
            |name: String, value: String| match resource.iter_mut().find(|(known, _)| *known == name) {
                Some(known) => known.1 = value,
                None => resource.push((name, value)),
            };
        for (name, value) in pairs(RESOURCE, value(RESOURCE))? {
            set(name, value);
        }
        if let Some(name) = value(SERVICE_NAME) {
            set("service.name".to_owned(), name);
        }
        Ok(Some(Self { url, headers, timeout, resource }))
    }
}

/// Reads `name=value,name=value` with percent encoding. Errors do not show the text: it may contain keys.
fn pairs(variable: &str, list: Option<String>) -> Result<Vec<(String, String)>, String> {
    let list = list.unwrap_or_default();
    let entries = list.split(',').filter(|entry| !entry.trim().is_empty());
    entries
        .map(|entry| {
            let (name, value) = entry
                .split_once('=')
                .ok_or_else(|| format!("invalid {variable}: it must be `name=value,name=value`"))?;
            let decoded = percent_decode_str(value.trim()).decode_utf8_lossy().into_owned();
            Ok((name.trim().to_owned(), decoded))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Option<Config>, String> {
        Config::read(&|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn page_has_all_variables() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/troubleshooting.md");
        let page = fs_err::read_to_string(page).unwrap();
        let names = [ENDPOINT, TRACES_ENDPOINT, HEADERS, TIMEOUT, PROTOCOL, SERVICE_NAME, RESOURCE, DISABLED];
        for name in names {
            assert!(page.contains(&format!("| `{name}` |")), "{name}");
        }
    }

    #[test]
    fn nothing_is_exported_without_an_endpoint_or_if_disabled() {
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&[(ENDPOINT, "")]), Ok(None));
        assert_eq!(read(&[(ENDPOINT, "http://collector:4318"), (DISABLED, "true")]), Ok(None));
    }

    #[test]
    fn endpoint_of_all_signals_is_a_prefix_and_that_of_traces_is_not() {
        let url = |variables| read(variables).unwrap().unwrap().url;
        assert_eq!(url(&[(ENDPOINT, "http://a:4318/")]), "http://a:4318/v1/traces");
        assert_eq!(url(&[(ENDPOINT, "http://a:4318"), (TRACES_ENDPOINT, "https://b/x")]), "https://b/x");
    }

    #[test]
    fn headers_and_resource_are_lists_with_percent_encoding() {
        let config = read(&[
            (ENDPOINT, "http://a"),
            (HEADERS, "authorization=Basic%20abc, x-team = core"),
            (RESOURCE, "deployment.environment=ci,service.name=ignored"),
            (SERVICE_NAME, "builder"),
            (TIMEOUT, "250"),
        ]);
        let config = config.unwrap().unwrap();
        assert_eq!(config.headers["authorization"], "Basic abc");
        assert_eq!(config.headers["x-team"], "core");
        assert_eq!(config.timeout, Duration::from_millis(250));
        let resource =
            |name: &str| config.resource.iter().find(|(known, _)| known == name).unwrap().1.clone();
        assert_eq!(
            (resource("service.name"), resource("deployment.environment")),
            ("builder".into(), "ci".into())
        );
        assert!(!format!("{config:?}").contains("abc"), "{config:?}");
    }

    #[test]
    fn wrong_values_are_errors_that_show_no_header() {
        for (name, value, part) in [
            (ENDPOINT, "collector:4318", "must start with http"),
            (PROTOCOL, "grpc", "exports over http/json"),
            (TIMEOUT, "10s", "milliseconds"),
            (HEADERS, "s3cret-without-name", "must be `name=value"),
            (HEADERS, "a b=s3cret", "cannot be sent"),
        ] {
            let variables = [(name, value), (ENDPOINT, "http://a")];
            let error = read(&variables).unwrap_err();
            assert!(error.contains(part) && !error.contains("s3cret"), "{error}");
        }
    }
}
