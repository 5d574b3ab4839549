//! One column of a decoded batch.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrowPrimitiveType, BooleanArray, LargeStringArray, PrimitiveArray, StringArray,
    StringViewArray,
};
use arrow_schema::DataType;

use super::Cell;

/// An array of a type that cells can hold.
pub(super) enum Column<'a> {
    Null,
    Bool(&'a BooleanArray),
    Text(&'a StringArray),
    LargeText(&'a LargeStringArray),
    TextView(&'a StringViewArray),
    I8(&'a PrimitiveArray<Int8Type>),
    I16(&'a PrimitiveArray<Int16Type>),
    I32(&'a PrimitiveArray<Int32Type>),
    I64(&'a PrimitiveArray<Int64Type>),
    U8(&'a PrimitiveArray<UInt8Type>),
    U16(&'a PrimitiveArray<UInt16Type>),
    U32(&'a PrimitiveArray<UInt32Type>),
    U64(&'a PrimitiveArray<UInt64Type>),
    F16(&'a PrimitiveArray<Float16Type>),
    F32(&'a PrimitiveArray<Float32Type>),
    F64(&'a PrimitiveArray<Float64Type>),
}

impl<'a> Column<'a> {
    pub(super) fn can_hold(kind: &DataType) -> bool {
        kind.is_integer()
            || kind.is_floating()
            || matches!(
                kind,
                DataType::Null
                    | DataType::Boolean
                    | DataType::Utf8
                    | DataType::LargeUtf8
                    | DataType::Utf8View
            )
    }

    pub(super) fn of(array: &'a dyn Array) -> Option<Self> {
        Some(match array.data_type() {
            DataType::Null => Self::Null,
            DataType::Boolean => Self::Bool(array.as_boolean_opt()?),
            DataType::Utf8 => Self::Text(array.as_string_opt()?),
            DataType::LargeUtf8 => Self::LargeText(array.as_string_opt()?),
            DataType::Utf8View => Self::TextView(array.as_string_view_opt()?),
            DataType::Int8 => Self::I8(array.as_primitive_opt()?),
            DataType::Int16 => Self::I16(array.as_primitive_opt()?),
            DataType::Int32 => Self::I32(array.as_primitive_opt()?),
            DataType::Int64 => Self::I64(array.as_primitive_opt()?),
            DataType::UInt8 => Self::U8(array.as_primitive_opt()?),
            DataType::UInt16 => Self::U16(array.as_primitive_opt()?),
            DataType::UInt32 => Self::U32(array.as_primitive_opt()?),
            DataType::UInt64 => Self::U64(array.as_primitive_opt()?),
            DataType::Float16 => Self::F16(array.as_primitive_opt()?),
            DataType::Float32 => Self::F32(array.as_primitive_opt()?),
            DataType::Float64 => Self::F64(array.as_primitive_opt()?),
            _ => return None,
        })
    }

    /// Calls `put` with the place and the number of every cell; `false`, and nothing is put, where some cell may
    /// be anything else.
    pub(super) fn numbers(&self, mut put: impl FnMut(usize, f64)) -> bool {
        fn each<T: ArrowPrimitiveType>(
            array: &PrimitiveArray<T>,
            mut put: impl FnMut(usize, T::Native),
        ) -> bool {
            if array.null_count() > 0 {
                return false;
            }
            array.values().iter().enumerate().for_each(|(i, &v)| put(i, v));
            true
        }
        match *self {
            Self::I8(a) => each(a, |i, v| put(i, f64::from(v))),
            Self::I16(a) => each(a, |i, v| put(i, f64::from(v))),
            Self::I32(a) => each(a, |i, v| put(i, f64::from(v))),
            Self::I64(a) => each(a, |i, v| put(i, v as f64)),
            Self::U8(a) => each(a, |i, v| put(i, f64::from(v))),
            Self::U16(a) => each(a, |i, v| put(i, f64::from(v))),
            Self::U32(a) => each(a, |i, v| put(i, f64::from(v))),
            Self::U64(a) => each(a, |i, v| put(i, v as f64)),
            Self::F32(a) => each(a, |i, v| put(i, f64::from(v))),
            Self::F64(a) => each(a, put),
            Self::Null
            | Self::Bool(_)
            | Self::Text(_)
            | Self::LargeText(_)
            | Self::TextView(_)
            | Self::F16(_) => false,
        }
    }

    pub(super) fn cell(&self, i: usize) -> Cell<'a> {
        fn number(array: &dyn Array, i: usize, value: impl FnOnce() -> f64) -> Cell<'static> {
            if array.is_null(i) { Cell::Missing } else { Cell::of_number(value()) }
        }
        match *self {
            Self::Null => Cell::Missing,
            Self::Bool(a) => number(a, i, || f64::from(a.value(i))),
            Self::Text(a) if a.is_null(i) => Cell::Missing,
            Self::Text(a) => Cell::of_text(a.value(i)),
            Self::LargeText(a) if a.is_null(i) => Cell::Missing,
            Self::LargeText(a) => Cell::of_text(a.value(i)),
            Self::TextView(a) if a.is_null(i) => Cell::Missing,
            Self::TextView(a) => Cell::of_text(a.value(i)),
            Self::I8(a) => number(a, i, || f64::from(a.value(i))),
            Self::I16(a) => number(a, i, || f64::from(a.value(i))),
            Self::I32(a) => number(a, i, || f64::from(a.value(i))),
            // Integers past 2^53 are rounded: they would be as features of any kind.
            Self::I64(a) => number(a, i, || a.value(i) as f64),
            Self::U8(a) => number(a, i, || f64::from(a.value(i))),
            Self::U16(a) => number(a, i, || f64::from(a.value(i))),
            Self::U32(a) => number(a, i, || f64::from(a.value(i))),
            Self::U64(a) => number(a, i, || a.value(i) as f64),
            Self::F16(a) => number(a, i, || a.value(i).to_f64()),
            Self::F32(a) => number(a, i, || f64::from(a.value(i))),
            Self::F64(a) => number(a, i, || a.value(i)),
        }
    }
}
