use super::*;

fn proxies(variables: &[(&str, &str)]) -> Proxies {
    Proxies::from_variables(|name| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
    })
}

fn taken(variables: &[(&str, &str)], url: &str) -> Option<String> {
    let proxy = proxies(variables).find(&url.parse().unwrap()).unwrap();
    proxy.map(|proxy| proxy.uri.to_string())
}

#[test]
fn each_scheme_has_its_variable_and_all_proxy_is_the_fallback() {
    let all = [("HTTPS_PROXY", "http://s:1"), ("HTTP_PROXY", "http://p:2"), ("ALL_PROXY", "http://a:3")];
    let cases = [
        (&all[..], Some("http://s:1/"), Some("http://p:2/")),
        (&all[..1], Some("http://s:1/"), None),
        (&all[1..2], None, Some("http://p:2/")),
        (&all[1..], Some("http://a:3/"), Some("http://p:2/")),
        (&all[..0], None, None),
    ];
    for (variables, https, http) in cases {
        assert_eq!(taken(variables, "https://host/").as_deref(), https, "{variables:?}");
        assert_eq!(taken(variables, "http://host/").as_deref(), http, "{variables:?}");
    }
}

#[test]
fn lower_case_takes_precedence_and_empty_means_unset() {
    let both = [("https_proxy", "low:1"), ("HTTPS_PROXY", "up:1")];
    assert_eq!(taken(&both, "https://host/").as_deref(), Some("http://low:1/"));
    let empty = [("https_proxy", ""), ("HTTPS_PROXY", ""), ("all_proxy", "all:1")];
    assert_eq!(taken(&empty, "https://host/").as_deref(), Some("http://all:1/"));
    let no_proxy = [("https_proxy", "p:1"), ("no_proxy", "host"), ("NO_PROXY", "other")];
    assert_eq!(taken(&no_proxy, "https://host/"), None);
    assert_eq!(taken(&no_proxy, "https://other/").as_deref(), Some("http://p:1/"));
}

#[test]
fn loopback_and_listed_hosts_use_no_proxy() {
    let variables = [("ALL_PROXY", "http://p:1"), ("NO_PROXY", "internal.example:8443, 10.0.0.0/8")];
    for url in [
        "http://localhost:1/",
        "https://127.0.0.1/",
        "http://[::1]:80/",
        "https://api.internal.example:8443/",
        "http://10.1.2.3/",
    ] {
        assert_eq!(taken(&variables, url), None, "{url}");
    }
    for url in ["https://internal.example/", "http://11.1.2.3/", "http://[2001:db8::1]/"] {
        assert!(taken(&variables, url).is_some(), "{url}");
    }
    // the default port is 443
    assert_eq!(taken(&[("ALL_PROXY", "p"), ("NO_PROXY", "host:443")], "https://host/"), None);
}

#[test]
fn values_are_parsed_as_in_other_programs() {
    let cases = [
        ("proxy.example", "http://proxy.example:80/", None),
        ("proxy.example:3128/", "http://proxy.example:3128/", None),
        ("HTTP://proxy.example:3128/path?x#y", "http://proxy.example:3128/", None),
        ("https://proxy.example", "https://proxy.example:443/", None),
        ("http://[2001:db8::1]", "http://[2001:db8::1]:80/", None),
        ("http://[2001:db8::1]:3128", "http://[2001:db8::1]:3128/", None),
        ("http://Aladdin:open%20sesame@p:1", "http://p:1/", Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")),
        ("user@p:1", "http://p:1/", Some("Basic dXNlcjo=")),
        ("http://u:p@ss/w#rd@p:1", "http://p:1/", Some("Basic dTpwQHNzL3cjcmQ=")),
    ];
    for (value, uri, authorization) in cases {
        let proxy = proxies(&[("ALL_PROXY", value)]).find(&"http://host/".parse().unwrap()).unwrap().unwrap();
        assert_eq!(proxy.uri.to_string(), uri, "{value}");
        let actual = proxy.authorization.as_ref().map(|value| value.to_str().unwrap());
        assert_eq!(actual, authorization, "{value}");
    }
}

#[test]
fn invalid_variable_fails_requests_and_is_not_shown() {
    for value in [
        "socks5://user:s3cret@p:1080",
        "http://user:s3cret@",
        "http://user:s3cret@p:99999",
        "http://user:s3cret@p:",
        "http://user:s3cret@a b:1",
        "http://",
    ] {
        let proxies = proxies(&[("HTTPS_PROXY", value)]);
        let error = proxies.find(&"https://host/".parse().unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ProxySettings, "{value}");
        assert!(error.to_string().starts_with("invalid HTTPS_PROXY: "), "{error}");
        assert!(!format!("{error:?} {} {proxies:?}", error.report()).contains("s3cret"), "{error:?}");
        // requests that do not use the proxy succeed
        assert!(proxies.find(&"http://host/".parse().unwrap()).unwrap().is_none());
        assert!(proxies.find(&"https://localhost/".parse().unwrap()).unwrap().is_none());
    }
}

#[test]
fn credentials_are_not_shown() {
    let proxies = proxies(&[("ALL_PROXY", "http://user:s3cret@p:1")]);
    let proxy = proxies.find(&"http://host/".parse().unwrap()).unwrap().unwrap();
    let shown = format!("{proxies:?} {proxy:?} {proxy} {:?}", proxy.authentication_error());
    assert!(!shown.contains("s3cret") && !shown.contains("user:") && !shown.contains("dXNlcj"), "{shown}");
    assert_eq!(proxy.to_string(), "the proxy p:1 (ALL_PROXY)");
}
