import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { PAUSE, PromptForm } from '../../src/prompts/form';
import { argumentFor, label, readPrompts, type Prompt } from '../../src/prompts/prompts';

const SAID = {
  prompts: [
    {
      server: 'demo',
      name: 'review',
      title: 'Review <b>code</b>',
      description: '<img src=x onerror=alert(1)>',
      arguments: [
        { name: 'language', title: '', description: 'Which one', required: true },
        { name: 'code', title: 'The code', description: '', required: false },
        { title: 'no name' }
      ]
    },
    { server: 'demo' },
    null
  ]
};

function review(): Prompt {
  const [found] = readPrompts(SAID);
  if (found === undefined) {
    throw new Error('no prompt');
  }
  return found;
}

function form(
  given: Record<string, string> = {},
  request = vi.fn((): Promise<unknown> => Promise.resolve({}))
): { form: PromptForm; request: typeof request; control: (name: string) => HTMLInputElement } {
  const made = new PromptForm({ prompt: review(), given, request });
  document.body.append(made.node);
  const control = (name: string): HTMLInputElement => {
    const found = [...made.node.querySelectorAll('label')].find(one => (one.textContent ?? '').startsWith(name));
    return document.getElementById(found?.htmlFor ?? '') as HTMLInputElement;
  };
  return { form: made, request, control };
}

describe('prompts as they are told', () => {
  it('are read, and what makes no sense is left out', () => {
    expect(readPrompts(SAID).map(label)).toEqual(['Review <b>code</b> (demo.review)']);
    expect(review().arguments.map(one => one.name)).toEqual(['language', 'code']);
    expect(readPrompts(null)).toEqual([]);
    expect(readPrompts({ prompts: [{ server: 's', name: 'n', title: 'n' }] }).map(label)).toEqual(['s.n']);
  });

  it('take a selection into the argument that is for text', () => {
    expect(argumentFor(review())?.name).toBe('code');
    const other = (...names: string[]): Prompt => ({
      ...review(),
      arguments: names.map((name, at) => ({ name, title: '', description: '', required: at === 1 }))
    });
    expect(argumentFor(other('style', 'language'))?.name).toBe('language');
    expect(argumentFor(other('style'))?.name).toBe('style');
    expect(argumentFor(other('question', 'text'))?.name).toBe('text');
    expect(argumentFor(other())).toBeNull();
  });
});

describe('the form of a prompt', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
    document.body.replaceChildren();
  });

  it('has a labelled control for each argument, and shows what a server writes as text', () => {
    const { form: made, control } = form();
    expect(control('language').required).toBe(true);
    expect(control('The code').required).toBe(false);
    const help = document.getElementById(control('language').getAttribute('aria-describedby') ?? '');
    expect(help?.textContent).toBe('Which one');
    expect(made.node.querySelector('img')).toBeNull();
    expect(made.node.textContent).toContain('<img src=x onerror=alert(1)>');
  });

  it('says what is still needed and goes there', () => {
    const { form: made, control } = form({ code: 'x' });
    expect(made.values).toEqual({ code: 'x' });
    expect(made.report()).toBe(true);
    expect(made.node.querySelector('[role=status]')?.textContent).toBe('Still needed: language');
    expect(document.activeElement).toBe(control('language'));
    expect(control('language').getAttribute('aria-invalid')).toBe('true');
    control('language').value = 'python';
    expect(made.report()).toBe(false);
    expect(made.values).toEqual({ language: 'python', code: 'x' });
  });

  it('keeps the lines of a selection', () => {
    const { form: made, control } = form({ code: 'a\nb' });
    expect(control('The code').tagName).toBe('TEXTAREA');
    expect(made.values.code).toBe('a\nb');
  });

  it('offers what the server suggests once somebody stops typing, and only for what stands there', async () => {
    const request = vi.fn((): Promise<unknown> => Promise.resolve({ values: ['python', 3, 'perl'] }));
    const { control } = form({ code: 'x' }, request);
    const field = control('language');
    field.value = 'p';
    field.dispatchEvent(new Event('input'));
    field.dispatchEvent(new Event('input'));
    await vi.advanceTimersByTimeAsync(PAUSE);
    expect(request).toHaveBeenCalledTimes(1);
    expect(request).toHaveBeenCalledWith('prompt_complete', {
      server: 'demo',
      prompt: 'review',
      argument: 'language',
      value: 'p',
      others: { code: 'x' }
    });
    const options = [...document.querySelectorAll(`#${field.getAttribute('list') ?? ''} option`)];
    expect(options.map(one => (one as HTMLOptionElement).value)).toEqual(['python', 'perl']);
  });

  it('goes on without suggestions when there are none', async () => {
    const request = vi.fn((): Promise<unknown> => Promise.reject(new Error('no completions')));
    const { control, form: made } = form({}, request);
    control('language').dispatchEvent(new Event('input'));
    await vi.advanceTimersByTimeAsync(PAUSE);
    expect(made.node.querySelector('[role=status]')?.textContent).toBe('');
  });

  it('shows the messages as text, or why there are none', async () => {
    const request = vi.fn((): Promise<unknown> =>
      Promise.resolve({ messages: [{ role: 'user', text: '<script>x</script>' }] })
    );
    const { form: made } = form({ language: 'python' }, request);
    const [look] = made.node.getElementsByTagName('button');
    look?.click();
    await vi.advanceTimersByTimeAsync(0);
    expect(request).toHaveBeenCalledWith('prompt_messages', {
      server: 'demo',
      prompt: 'review',
      arguments: { language: 'python' }
    });
    expect(made.node.querySelector('pre')?.textContent).toBe('<script>x</script>');
    expect(made.node.querySelector('script')).toBeNull();
    request.mockRejectedValueOnce(new Error('demo is lost.'));
    look?.click();
    await vi.advanceTimersByTimeAsync(0);
    expect(made.node.querySelector('[role=status]')?.textContent).toBe('demo is lost.');
    expect(look?.disabled).toBe(false);
  });
});
