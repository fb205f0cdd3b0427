/**
 * Prompts as the kernel tells them, and which of their arguments a selection is for. Pure.
 */

import { list, record, text } from '../said';

export interface Argument {
  name: string;
  title: string;
  description: string;
  required: boolean;
}

export interface Prompt {
  server: string;
  name: string;
  /** For people; the name when the server gives none. */
  title: string;
  description: string;
  arguments: readonly Argument[];
}

/** Words by which servers call the argument that takes a text from elsewhere, the likelier first. */
const FOR_TEXT = [
  /^(selection|selected)/i,
  /(code|snippet|source|script|program)/i,
  /(text|content|body|document|passage|input)/i,
  /(message|query|question|topic|data)/i
];

/** The prompts of an answer; what does not look as agreed is left out. */
export function readPrompts(said: unknown): Prompt[] {
  return list(record(said).prompts).flatMap(one => {
    const { server, name, title, description, arguments: found } = record(one);
    if (typeof server !== 'string' || typeof name !== 'string' || name === '') {
      return [];
    }
    const called = text(title) === '' ? name : text(title);
    return [{ server, name, title: called, description: text(description), arguments: list(found).flatMap(argument) }];
  });
}

/** `server.name`, the name that stays. */
export function fullName(prompt: { server: string; name: string }): string {
  return `${prompt.server}.${prompt.name}`;
}

/** What a palette or a menu says. */
export function label(prompt: Prompt): string {
  return prompt.title === prompt.name ? fullName(prompt) : `${prompt.title} (${fullName(prompt)})`;
}

/** The argument that a selection is put into; null when the prompt takes none. */
export function argumentFor(prompt: Prompt): Argument | null {
  for (const pattern of FOR_TEXT) {
    const named = prompt.arguments.find(one => pattern.test(one.name));
    if (named !== undefined) {
      return named;
    }
  }
  return prompt.arguments.find(one => one.required) ?? prompt.arguments[0] ?? null;
}

function argument(said: unknown): Argument[] {
  const { name, title, description, required } = record(said);
  if (typeof name !== 'string' || name === '') {
    return [];
  }
  return [{ name, title: text(title), description: text(description), required: required === true }];
}
