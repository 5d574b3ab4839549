//! A minimal HTML parser that checks that tags balance and returns them.

/// An opening tag.
#[derive(Debug, Clone)]
pub(crate) struct Tag {
    pub(crate) name: String,
    /// Names and values, still escaped.
    pub(crate) attributes: Vec<(String, String)>,
}

/// The opening tags of a page in order, or an error if a tag is not closed.
pub(crate) fn read_balanced(html: &str) -> Result<Vec<Tag>, String> {
    let mut rest = html.strip_prefix("<!DOCTYPE html>").ok_or("missing document type")?;
    let mut open: Vec<String> = Vec::new();
    let mut tags = Vec::new();
    while let Some(at) = rest.find('<') {
        let text = &rest[..at];
        if text.contains('>') && open.last().map(String::as_str) != Some("style") {
            return Err(format!("a bare > in {text:?}"));
        }
        let (inside, after) = split_tag(&rest[at + 1..])?;
        rest = after;
        if let Some(name) = inside.strip_prefix('/') {
            let opened = open.pop().ok_or_else(|| format!("</{name}> without an opening tag"))?;
            if opened != name {
                return Err(format!("</{name}> closes <{opened}>"));
            }
            continue;
        }
        let (inside, closed) = match inside.strip_suffix('/') {
            Some(inside) => (inside, true),
            None => (inside, false),
        };
        let tag = read_tag(inside)?;
        if !closed {
            open.push(tag.name.clone());
        }
        tags.push(tag);
    }
    if open.is_empty() { Ok(tags) } else { Err(format!("not closed: {open:?}")) }
}

impl Tag {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

/// Splits after the end of a tag. A `>` within quotes does not end it.
fn split_tag(text: &str) -> Result<(&str, &str), String> {
    let mut quoted = false;
    for (i, letter) in text.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '<' => return Err(format!("< inside a tag: {:.60}", text)),
            '>' if !quoted => return Ok((&text[..i], &text[i + 1..])),
            _ => {}
        }
    }
    Err(format!("unterminated tag: {text:.60}"))
}

fn read_tag(inside: &str) -> Result<Tag, String> {
    let (name, mut rest) = inside.split_once(' ').unwrap_or((inside, ""));
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err(format!("not a tag: <{inside:.60}>"));
    }
    let mut attributes = Vec::new();
    while !rest.is_empty() {
        let (key, after) =
            rest.split_once("=\"").ok_or(format!("attribute without a value: {inside:.60}"))?;
        let (value, after) =
            after.split_once('"').ok_or(format!("unterminated value: {inside:.60}"))?;
        attributes.push((key.trim().to_owned(), value.to_owned()));
        rest = after.trim_start();
    }
    Ok(Tag { name: name.to_owned(), attributes })
}
