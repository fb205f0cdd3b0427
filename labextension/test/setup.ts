// Lumino's drag and drop, which nothing here uses, extends a class that jsdom has not.
Object.assign(globalThis, { DragEvent: class extends MouseEvent {} });
