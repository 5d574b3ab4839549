"""Parameters as scikit-learn's tools expect them, without importing scikit-learn, which takes a second and 150 MB."""

import inspect
from typing import Any, Self


class Parameters:
    """The parameters of the constructor by name, so that `sklearn.base.clone` and searches work."""

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls).parameters]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with `deep`, also those of parameters that have some themselves, as `name__parameter`."""
        params: dict[str, Any] = {}
        for name in self._names():
            value = params[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params |= {f"{name}__{key}": inner for key, inner in value.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name."""
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            name, delimiter, inner = key.partition("__")
            if name not in self._names():
                known = ", ".join(self._names())
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}. It has {known}.")
            if delimiter:
                nested.setdefault(name, {})[inner] = value
            else:
                setattr(self, name, value)
        for name, inner_params in nested.items():
            getattr(self, name).set_params(**inner_params)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator, ClassifierMixin

        return type("Classifier", (ClassifierMixin, BaseEstimator), {})().__sklearn_tags__()

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        given = [(name, getattr(self, name)) for name in self._names()]
        changed = [f"{name}={value!r}" for name, value in given if value is not defaults[name].default]
        return f"{type(self).__name__}({', '.join(changed)})"
