//! Models as ONNX: from raw columns to score, probability and decision, in 64-bit floats and core operators.
//!
//! Every column of the schema is an input of shape `[rows, 1]`: 64-bit floats if all its values are numbers, otherwise text
//! without surrounding blanks. A missing number is NaN; a missing text is empty. A runtime cannot refuse a row, so a row
//! that `predict` would refuse has the score NaN and is not selected. The exception is a categorical column of text:
//! `predict` recognises more spellings of a missing value.
//!
//! The outputs, also `[rows, 1]`, are `score`, `probability` and `selected`, with an underscore after the name if a column
//! has it.

mod graph;
mod protobuf;

use crate::error::Error;
use crate::model::Model;
use crate::schema::{Encoding, Feature, Schema, Unknown};
use crate::value::finite_number;
use graph::{Graph, Kind, Name};

/// Versions that ONNX Runtime 1.17 and later accept; comparing texts needs operator set 19.
const IR_VERSION: u64 = 9;
const OPERATOR_SET: u64 = 19;

impl Model {
    /// The model as an ONNX file. `metadata` is stored in it, along with the schema.
    pub fn to_onnx(&self, metadata: &[(String, String)]) -> Result<Vec<u8>, Error> {
        let schema = self.schema();
        let mut graph = Graph::default();
        let mut parts = Vec::new();
        for feature in &schema.features {
            parts.push(encoded_feature(&mut graph, feature)?);
        }
        if schema.sensitive.as_feature {
            parts.extend(group_indicators(&mut graph, schema)?);
        }
        let row = graph.node("Concat", &parts, &[("axis", 1)]);
        let (coefficients, intercept) = match (schema.intercept, self.theta().split_last()) {
            (true, Some((intercept, coefficients))) => (coefficients, *intercept),
            _ => (self.theta(), 0.0),
        };
        let coefficients = graph.numbers(coefficients, &[coefficients.len() as u64, 1]);
        let product = graph.node("MatMul", &[row, coefficients], &[]);
        let intercept = graph.numbers(&[intercept], &[1, 1]);
        let score = graph.output("score", Kind::Number);
        graph.add("Add", &[product, intercept], &[], &score);
        let probability = graph.output("probability", Kind::Number);
        graph.add("Sigmoid", std::slice::from_ref(&score), &[], &probability);
        let zero = graph.numbers(&[0.0], &[1, 1]);
        let is_above = graph.node("Greater", &[score, zero], &[]);
        let selected = graph.output("selected", Kind::Integer);
        graph.add_cast(&is_above, Kind::Integer, &selected);
        let mut entries = vec![
            ("equipoise.schema".to_owned(), schema.to_toml()),
            ("equipoise.schema_digest".to_owned(), schema.digest().to_string()),
        ];
        entries.extend_from_slice(metadata);
        Ok(graph.into_model(IR_VERSION, OPERATOR_SET, &entries))
    }
}

/// The numbers that a feature becomes, one column each.
fn encoded_feature(graph: &mut Graph, feature: &Feature) -> Result<Name, Error> {
    match &feature.encoding {
        Encoding::Numeric { center, scale, fill } => {
            let mut value = graph.input(&feature.column, Kind::Number)?;
            if let Some(fill) = fill {
                let is_missing = graph.node("IsNaN", std::slice::from_ref(&value), &[]);
                let fill = graph.numbers(&[*fill], &[1, 1]);
                value = graph.node("Where", &[is_missing, fill, value], &[]);
            }
            let (center, scale) =
                (graph.numbers(&[*center], &[1, 1]), graph.numbers(&[*scale], &[1, 1]));
            let centred = graph.node("Sub", &[value, center], &[]);
            Ok(graph.node("Div", &[centred, scale], &[]))
        }
        Encoding::Categorical { levels, fill, unknown } => {
            let kind = kind_of(levels.iter());
            let mut value = graph.input(&feature.column, kind)?;
            if let Some(fill) = fill {
                let is_missing = match kind {
                    Kind::Number => graph.node("IsNaN", std::slice::from_ref(&value), &[]),
                    _ => {
                        let empty = graph.texts(&[""], &[1, 1]);
                        graph.node("Equal", &[value.clone(), empty], &[])
                    }
                };
                let fill = constants(graph, kind, &[fill], &[1, 1]);
                value = graph.node("Where", &[is_missing, fill, value], &[]);
            }
            let n_levels = levels.len() as u64;
            let levels: Vec<&String> = levels.iter().collect();
            let levels = constants(graph, kind, &levels, &[1, n_levels]);
            let is_level = graph.node("Equal", &[value, levels], &[]);
            let indicators = graph.cast(&is_level, Kind::Number);
            if *unknown == Unknown::Other {
                return Ok(indicators);
            }
            // A row without a level gets NaN.
            let ones = graph.numbers(&vec![1.0; n_levels as usize], &[n_levels, 1]);
            let n_found = graph.node("MatMul", &[indicators.clone(), ones], &[]);
            Ok(nan_unless_positive(graph, n_found, indicators))
        }
    }
}

/// The values, or NaN in the rows in which `count` is 0.
fn nan_unless_positive(graph: &mut Graph, count: Name, values: Name) -> Name {
    let half = graph.numbers(&[0.5], &[1, 1]);
    let is_found = graph.node("Greater", &[count, half], &[]);
    let nan = graph.numbers(&[f64::NAN], &[1, 1]);
    graph.node("Where", &[is_found, values, nan], &[])
}

/// An indicator of every group but the first.
fn group_indicators(graph: &mut Graph, schema: &Schema) -> Result<Vec<Name>, Error> {
    let sensitive = &schema.sensitive;
    let mut columns = Vec::new();
    for (at, column) in sensitive.columns.iter().enumerate() {
        let values = sensitive.groups.iter().flat_map(|group| &group.members).map(|m| &m[at]);
        let kind = kind_of(values);
        columns.push((graph.input(column, kind)?, kind));
    }
    // Whether a row is in each group that lists its members.
    let mut listed = Vec::new();
    for group in &sensitive.groups {
        let mut is_member: Option<Name> = None;
        for values in &group.members {
            let mut is_equal: Option<Name> = None;
            for ((column, kind), value) in columns.iter().zip(values) {
                let value = constants(graph, *kind, &[value], &[1, 1]);
                let equal = graph.node("Equal", &[column.clone(), value], &[]);
                is_equal = Some(combined(graph, "And", is_equal, equal));
            }
            if let Some(is_equal) = is_equal {
                is_member = Some(combined(graph, "Or", is_member, is_equal));
            }
        }
        listed.push(is_member);
    }
    let any = listed.iter().flatten().cloned().collect::<Vec<_>>().into_iter();
    let any = any.fold(None, |any, next| Some(combined(graph, "Or", any, next)));
    let has_rest = listed.iter().any(Option::is_none);
    let mut indicators = Vec::new();
    for is_member in &listed[1..] {
        let is_member = match (is_member, &any) {
            (Some(is_member), _) => is_member.clone(),
            // Everyone who is in no other group.
            (None, Some(any)) => graph.node("Not", std::slice::from_ref(any), &[]),
            (None, None) => continue,
        };
        let indicator = graph.cast(&is_member, Kind::Number);
        indicators.push(match &any {
            Some(any) if !has_rest => {
                let count = graph.cast(any, Kind::Number);
                nan_unless_positive(graph, count, indicator)
            }
            _ => indicator,
        });
    }
    Ok(indicators)
}

fn combined(graph: &mut Graph, operator: &str, first: Option<Name>, second: Name) -> Name {
    match first {
        Some(first) => graph.node(operator, &[first, second], &[]),
        None => second,
    }
}

/// Numbers if all values are.
fn kind_of<'a>(mut values: impl Iterator<Item = &'a String>) -> Kind {
    if values.all(|value| finite_number(value).is_some()) { Kind::Number } else { Kind::Text }
}

fn constants(graph: &mut Graph, kind: Kind, values: &[&String], shape: &[u64]) -> Name {
    match kind {
        Kind::Number => {
            let numbers: Vec<f64> =
                values.iter().map(|value| finite_number(value).unwrap_or(f64::NAN)).collect();
            graph.numbers(&numbers, shape)
        }
        _ => {
            let texts: Vec<&str> = values.iter().map(|value| value.trim()).collect();
            graph.texts(&texts, shape)
        }
    }
}

#[cfg(test)]
mod tests;
