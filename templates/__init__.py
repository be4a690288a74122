"""The Jinja2 templates of everything that rigidc emits; once installed they are the package
`codegen.templates`.
"""
