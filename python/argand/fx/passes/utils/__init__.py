"""Helpers of passes."""
