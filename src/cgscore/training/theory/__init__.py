"""The paper's theory against networks that are really trained."""
