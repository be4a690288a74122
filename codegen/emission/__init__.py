"""From graphs to C text: statements (`statements`, cut into `parts`), functions (`kernels`), files (`emit`, `folder`).

`sheet` is what emission is told, `artifact` what it gives to the compiler, `text` fills the templates, `flags` are the
compiler's. Nothing here knows a robot but by the numbers and names on its sheet.
"""
