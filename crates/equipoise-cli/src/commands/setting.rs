//! Range errors that name the option instead of the setting.

use equipoise_core::Error;

/// Replaces the name of the setting with the name of its option, if it has one.
pub(crate) fn name_the_option(error: Error) -> anyhow::Error {
    let Error::Setting { name, found, range } = &error else { return error.into() };
    let option = match *name {
        "lambda" => "--lambda",
        "rows" => "--rows",
        "epsilon" => "--epsilon",
        "dp_epsilon" => "--dp-epsilon",
        "dp_delta" => "--dp-delta",
        "inner.tolerance" => "--inner-tolerance",
        "outer.iterations" => "--iterations",
        "outer.learning_rate" => "--learning-rate",
        "outer.rho.start" => "--rho-start",
        "outer.rho.max" => "--rho-max",
        _ => return error.into(),
    };
    let range = range.replace("outer.rho.start", "--rho-start");
    anyhow::anyhow!("{option} must be {range}, found {found}")
}
