"""`functools.cached_property` as of Python 3.12: without a lock.

Older versions have one lock per class, which makes threads wait for each other's data and stays
locked forever in a child that is forked while a thread computes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):
    """A property that is computed on first access and then stored in its object."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> cached_property[T] | T:
        if instance is None:
            return self
        value = self._function(instance)
        instance.__dict__[self._name] = value  # takes precedence over this descriptor
        return value
