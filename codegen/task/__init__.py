"""What is decided or said of a task before it is emitted: the cheapest algorithm, like limbs, notes, stages."""
