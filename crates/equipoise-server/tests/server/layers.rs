//! The layers of the server: each module uses only modules below it, and only `http` knows about HTTP.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The modules from bottom to top. A module may use those in the lines before its own.
const LAYERS: &[&[&str]] = &[
    &["clock", "config", "protocol"],
    &["store", "validator"],
    &["round"],
    &["comparison", "openapi", "pages", "verification"],
    &["http"],
    &["serve"],
];

/// Modules that must work without any HTTP library.
const WITHOUT_HTTP: &[&str] =
    &["comparison", "protocol", "store", "validator", "round", "verification", "pages"];

#[test]
fn every_module_uses_only_lower_layers() {
    let mut problems = Vec::new();
    for (module, file, text) in sources() {
        let layer = layer_of(&module);
        for used in used_modules(&text).into_iter().filter(|used| *used != module) {
            if layer_of(&used) >= layer {
                problems.push(format!("{}: `{module}` uses `{used}`", file.display()));
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn only_http_knows_about_http() {
    let crates = ["axum::", "hyper::", "hyper_util::", "tower::", "http_body_util::"];
    let mut problems = Vec::new();
    for (module, file, text) in sources() {
        if WITHOUT_HTTP.contains(&module.as_str()) {
            let found = crates.iter().filter(|name| text.contains(**name));
            problems.extend(found.map(|name| format!("{}: uses {name}", file.display())));
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn uses_are_found_in_every_spelling() {
    let text = "use crate::store::{Store};\nuse crate::{http::App, protocol::Name};\n\
                fn f(x: crate::round::Rounds) {}\n// crate::serve in a comment counts too";
    let found: Vec<String> = used_modules(text).into_iter().collect();
    assert_eq!(found, ["http", "protocol", "round", "serve", "store"]);
}

fn layer_of(module: &str) -> usize {
    let found = LAYERS.iter().position(|layer| layer.contains(&module));
    found.unwrap_or_else(|| panic!("`{module}` is in no layer: add it to LAYERS"))
}

/// The modules that follow `crate::`, also inside braces.
fn used_modules(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + "crate::".len()..];
        let names: Vec<&str> = match rest.strip_prefix('{') {
            None => vec![rest],
            Some(list) => list.split('}').next().unwrap().split(", ").collect(),
        };
        for name in names {
            let name: String =
                name.trim().chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
            // A capital letter starts an item that lib.rs exports.
            if !name.is_empty() {
                found.insert(name);
            }
        }
    }
    found
}

/// Module, path and text of every source file except `lib.rs`, which only declares the modules.
fn sources() -> Vec<(String, PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                let relative = path.strip_prefix(&root).unwrap().to_path_buf();
                let first = relative.iter().next().unwrap().to_str().unwrap();
                let module = first.trim_end_matches(".rs").to_owned();
                if module != "lib" {
                    found.push((module, relative, std::fs::read_to_string(&path).unwrap()));
                }
            }
        }
    }
    assert!(found.len() > 50, "sources not found");
    found
}
