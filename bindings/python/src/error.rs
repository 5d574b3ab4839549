//! Every Rust error becomes one of the exceptions in `equipoise._errors`.

use std::fmt::Display;
use std::str::FromStr;

use equipoise_cli::api::{describe, in_python_terms};
use equipoise_core::Choice;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

/// What failed, if the error itself does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Schema,
    Table,
    Proxy,
    Solve,
    Round,
    Setting,
}

/// The exception for an error.
pub(crate) fn exception(py: Python<'_>, error: &anyhow::Error, stage: Stage) -> PyErr {
    let message = in_python_terms(&describe(error));
    let (row, column) = location(error);
    let raise = || -> PyResult<PyErr> {
        let class = py.import("equipoise._errors")?.getattr(class_of(error, stage))?;
        let exception = class.call1((message,))?;
        if exception.hasattr("row")? {
            exception.setattr("row", row)?;
            exception.setattr("column", column)?;
        }
        Ok(PyErr::from_value(exception))
    };
    raise().unwrap_or_else(|error| error)
}

/// The single place that says which error is which exception.
fn class_of(error: &anyhow::Error, stage: Stage) -> &'static str {
    use equipoise_core::Error as Core;
    use equipoise_data::Error as Data;
    let mut causes = error.chain();
    let known = causes.find_map(|cause| {
        let core = |error: &Core| match error {
            Core::Setting { .. } => Some("SettingError"),
            Core::FewProxyRows { .. } => Some("ProxyError"),
            Core::Source(_) => Some("FileError"),
            _ => None,
        };
        let data = |error: &Data| match error {
            Data::Read { .. } | Data::Write { .. } | Data::Exists(_) | Data::NotOurFolder(_) => {
                Some("FileError")
            }
            Data::Table { .. } | Data::Cells { .. } => Some("TableError"),
            Data::ManyLabels { .. } => Some("SchemaError"),
            _ => None,
        };
        let cause_class = cause.downcast_ref::<Data>().and_then(data);
        cause_class.or_else(|| cause.downcast_ref::<Core>().and_then(core))
    });
    known.unwrap_or(match stage {
        Stage::Schema => "SchemaError",
        Stage::Table => "TableError",
        Stage::Proxy => "ProxyError",
        Stage::Solve => "SolveError",
        Stage::Round => "RoundError",
        Stage::Setting => "SettingError",
    })
}

/// Row and column of an error in a table.
fn location(error: &anyhow::Error) -> (Option<u64>, Option<String>) {
    let table = error.chain().find_map(|cause| match cause.downcast_ref() {
        Some(equipoise_data::Error::Table { row, column, .. }) => Some((*row, column.clone())),
        _ => None,
    });
    table.unwrap_or_default()
}

/// One of a few named values.
pub(crate) fn chosen<T: Choice>(py: Python<'_>, setting: &str, name: &str) -> PyResult<T> {
    T::ALL.iter().copied().find(|choice| choice.name() == name).ok_or_else(|| {
        let names: Vec<&str> = T::ALL.iter().map(Choice::name).collect();
        let message = format!("{setting} must be one of {}, found {name}", names.join(", "));
        exception(py, &anyhow::anyhow!(message), Stage::Setting)
    })
}

/// A setting from its name, such as a fairness criterion.
pub(crate) fn parse<T: FromStr<Err: Display>>(py: Python<'_>, text: &str) -> PyResult<T> {
    text.parse().map_err(|error| exception(py, &anyhow::anyhow!("{error}"), Stage::Setting))
}

/// Parses JSON into Python objects.
pub(crate) fn json(py: Python<'_>, document: &serde_json::Value) -> PyResult<Py<PyAny>> {
    let parsed = py.import("json")?.call_method1("loads", (document.to_string(),))?;
    Ok(parsed.unbind())
}

/// Keyword options as arguments of a command: `True` is a flag, `False` and `None` are left out.
pub(crate) fn arguments(options: &Bound<'_, PyDict>) -> PyResult<Vec<String>> {
    let mut arguments = Vec::new();
    for (key, value) in options.iter() {
        let option =
            format!("--{}", key.extract::<String>()?.trim_end_matches('_').replace('_', "-"));
        if value.is_none() || value.is(PyBool::new(options.py(), false)) {
            continue;
        }
        if value.is(PyBool::new(options.py(), true)) {
            arguments.push(option);
        } else {
            arguments.push(format!("{option}={}", value.str()?));
        }
    }
    Ok(arguments)
}
