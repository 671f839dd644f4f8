"""What is wrong with a document, told live: ``diagnose(graph)``."""

from engine.diagnostics.driver import Diagnosis, diagnose, for_run
from engine.diagnostics.fields import check_fields, check_files
from engine.diagnostics.layers import TypeRegistry
from engine.diagnostics.memo import SchemaMemo
from engine.diagnostics.records import Diagnostic, QuickFix, Severity
from engine.diagnostics.solver import check_solver, check_solver_file

__all__ = [
    "Diagnosis",
    "Diagnostic",
    "QuickFix",
    "SchemaMemo",
    "Severity",
    "TypeRegistry",
    "check_fields",
    "check_files",
    "check_solver",
    "check_solver_file",
    "diagnose",
    "for_run",
]
