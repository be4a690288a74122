"""Joints whose motion a contact determines: finding them, eliminating them and their rows, and the way back."""
