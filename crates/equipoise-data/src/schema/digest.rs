//! The digest of a schema's content.
//!
//! It is taken over a sequence of items: a text as its length in bytes, a colon and the text; a number as the 16 hex
//! digits of its bits; a list as its length, then its items. This is easy to reproduce in any language and does not
//! depend on how a library prints numbers.

use super::{Encoding, Feature, Schema, Sensitive, Unknown};
use crate::digest::{Digest, Hasher};
use crate::value::Value;

pub(super) fn digest(schema: &Schema) -> Digest {
    let mut items = Items(Hasher::default());
    items.text("equipoise-schema");
    items.text(&schema.version.to_string());
    items.text(&schema.intercept.to_string());
    let mut ignore = schema.ignore.clone();
    ignore.sort();
    items.texts(&ignore);
    items.text(&schema.label.column);
    items.value(&schema.label.positive);
    items.sensitive(&schema.sensitive);
    items.text(&schema.features.len().to_string());
    schema.features.iter().for_each(|feature| items.feature(feature));
    items.other_values("negative labels", &schema.label.negative);
    items.0.finish()
}

struct Items(Hasher);

impl Items {
    fn feature(&mut self, feature: &Feature) {
        self.text(&feature.column);
        match &feature.encoding {
            Encoding::Numeric { center, scale, fill } => {
                self.text("numeric");
                self.number(*center);
                self.number(*scale);
                match fill {
                    Some(fill) => self.number(*fill),
                    None => self.text("no fill"),
                }
            }
            // Levels are hashed as spelled, because they are part of the encoded names.
            Encoding::Categorical { levels, fill, unknown } => {
                self.text(match unknown {
                    Unknown::Error => "categorical",
                    Unknown::Other => "categorical or other",
                });
                self.texts(levels);
                match fill {
                    Some(fill) => {
                        self.text("fill");
                        self.value(fill);
                    }
                    None => self.text("no fill"),
                }
            }
        }
    }

    /// One value against all others as it has always been; anything else with all it consists of.
    fn sensitive(&mut self, sensitive: &Sensitive) {
        match sensitive.privileged() {
            Some(privileged) => {
                sensitive.columns.iter().for_each(|column| self.text(column));
                self.value(privileged);
            }
            None => {
                self.text("groups");
                self.texts(&sensitive.columns);
                self.text(&sensitive.groups.len().to_string());
                for group in &sensitive.groups {
                    self.text(&group.name);
                    self.text(&group.members.len().to_string());
                    group.members.iter().flatten().for_each(|value| self.value(value));
                }
                self.text(&sensitive.reference.to_string());
            }
        }
        if !sensitive.as_feature {
            self.text("blind");
        }
        if sensitive.privileged().is_some() {
            self.other_values("unprivileged values", &sensitive.unprivileged());
        }
    }

    /// In any order. A schema without them has the digest that it always had.
    fn other_values(&mut self, heading: &str, texts: &[String]) {
        if !texts.is_empty() {
            self.text(heading);
            let mut values: Vec<Value> = texts.iter().map(|text| Value::of_text(text)).collect();
            values.sort_by(Value::order);
            self.texts(&values.iter().map(Value::to_string).collect::<Vec<_>>());
        }
    }

    fn texts(&mut self, texts: &[String]) {
        self.text(&texts.len().to_string());
        texts.iter().for_each(|text| self.text(text));
    }

    fn text(&mut self, text: &str) {
        self.0.update(format!("{}:{text}", text.len()));
    }

    /// Equal values give the same digest, however they are spelled.
    fn value(&mut self, text: &str) {
        self.text(&Value::of_text(text).to_string());
    }

    /// Adding 0 turns −0 into 0.
    fn number(&mut self, number: f64) {
        self.0.update(format!("{:016x}", (number + 0.0).to_bits()));
    }
}
