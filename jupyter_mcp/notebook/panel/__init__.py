"""The panel of JupyterLab: what pages ask of this kernel, and how they hear that something has changed."""
