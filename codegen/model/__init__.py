"""The model of a robot as frozen data, its contacts and its canonical frames."""

from __future__ import annotations

from codegen.model.contacts import Contact
from codegen.model.model import Body, Convention, Frame, Joint, Loop, Model, Node, ScrewJoint, Source

__all__ = ["Body", "Contact", "Convention", "Frame", "Joint", "Loop", "Model", "Node", "ScrewJoint", "Source"]
