//! The audience of a round: the address that clients use. Signatures are valid for it alone, so it has one spelling.

/// An address that cannot be the audience of a round.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{found}` cannot be the audience: {problem}. It must be the address that clients use, such as \
     https://round.example.org:8443, without a path"
)]
pub struct AudienceError {
    found: String,
    problem: &'static str,
}

/// Checks that an audience is `http://` or `https://`, a host, and possibly a port.
pub fn check_audience(audience: &str) -> Result<(), AudienceError> {
    let problem = |problem| AudienceError { found: audience.chars().take(200).collect(), problem };
    let address = audience.strip_prefix("https://").or_else(|| audience.strip_prefix("http://"));
    let address = address.ok_or(problem("it does not begin with https:// or http://"))?;
    if let Some(end) = address.find(['/', '?', '#']) {
        return Err(problem(match &address[end..=end] {
            "/" => "it has a path",
            "?" => "it has a query",
            _ => "it has a fragment",
        }));
    }
    if address.contains('@') {
        return Err(problem("it has a user name"));
    }
    let (host, port) = match address.strip_prefix('[') {
        Some(rest) => rest.split_once(']').ok_or(problem("its host is invalid"))?,
        None => address.split_at(address.find(':').unwrap_or(address.len())),
    };
    let is_valid_host = match address.starts_with('[') {
        true => host.parse::<std::net::Ipv6Addr>().is_ok(),
        false => is_host(host),
    };
    if !is_valid_host {
        return Err(problem("its host is invalid"));
    }
    let is_port = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_digit())
            && !text.starts_with('0')
            && text.parse::<u16>().is_ok()
    };
    match port.strip_prefix(':') {
        None if port.is_empty() => Ok(()),
        Some(number) if is_port(number) => Ok(()),
        _ => Err(problem("its port is invalid")),
    }
}

/// Whether this is a host name or an IPv4 address.
fn is_host(text: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    text.len() <= 253 && text.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audience_is_an_address_without_a_path() {
        for valid in [
            "https://round.example.org",
            "https://round.example.org:8443",
            "http://127.0.0.1:80",
            "http://localhost:8080",
            "https://[::1]:8443",
            "https://[2001:db8::1]",
        ] {
            assert_eq!(check_audience(valid), Ok(()), "{valid}");
        }
        for (invalid, problem) in [
            ("", "does not begin"),
            ("round.example.org", "does not begin"),
            ("ftp://x", "does not begin"),
            ("HTTPS://x", "does not begin"),
            ("https://", "host"),
            ("https://:8443", "host"),
            ("https://a b", "host"),
            ("https://a..b", "host"),
            ("https://bücher.example", "host"),
            ("https://[::1", "host"),
            ("https://[127.0.0.1]", "host"),
            ("https://x/", "path"),
            ("https://x/rounds", "path"),
            ("https://x?a=1", "query"),
            ("https://x#a", "fragment"),
            ("https://me@x", "user name"),
            ("https://x:", "port"),
            ("https://x:0", "port"),
            ("https://x:65536", "port"),
            ("https://x:+1", "port"),
            ("https://[::1]8443", "port"),
        ] {
            let error = check_audience(invalid).expect_err(invalid).to_string();
            assert!(error.contains(problem), "{invalid}: {error}");
        }
    }
}
