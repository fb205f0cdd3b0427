import { CommandRegistry } from '@lumino/commands';
import { ContextMenu } from '@lumino/widgets';
import { describe, expect, it, vi } from 'vitest';

import type { ICommandPalette } from '@jupyterlab/apputils';

import { PROMPT, PromptMenus } from '../../src/prompts/menus';
import { label, type Prompt } from '../../src/prompts/prompts';
import { PromptSection } from '../../src/prompts/section';

function prompt(name: string, title = name): Prompt {
  return { server: 'demo', name, title, description: `about ${name}`, arguments: [] };
}

function named(section: PromptSection, name: string): HTMLElement | null {
  return section.node.querySelector(`[aria-label="${name}"]`);
}

describe('the section of prompts', () => {
  it('has a button for each pinned prompt, and a line with a pin for each', () => {
    const [open, pin] = [vi.fn(), vi.fn()];
    const section = new PromptSection({ open, pin });
    expect(section.node.textContent).toContain('No connected server has prompts.');
    const review = prompt('review', '<i>Review</i>');
    section.draw([review, prompt('plan')], ['demo.review', 'gone.prompt']);
    const pinned = named(section, 'Pinned prompts');
    expect([...(pinned?.children ?? [])].map(one => one.textContent)).toEqual(['<i>Review</i>']);
    (pinned?.firstElementChild as HTMLElement).click();
    expect(open).toHaveBeenCalledWith(review);
    expect(named(section, 'Pin demo.review')?.getAttribute('aria-pressed')).toBe('true');
    named(section, 'Pin demo.review')?.click();
    expect(pin).toHaveBeenLastCalledWith(review, false);
    named(section, 'Pin demo.plan')?.click();
    expect(pin).toHaveBeenLastCalledWith(prompt('plan'), true);
  });

  it('is searched when there are many', () => {
    const section = new PromptSection({ open: vi.fn(), pin: vi.fn() });
    section.draw(
      Array.from({ length: 300 }, (_, number) => prompt(`number-${String(number)}`)),
      []
    );
    expect(section.node.querySelectorAll('li')).toHaveLength(200);
    expect(section.node.textContent).toContain('100 more');
    const search = named(section, 'Search prompts') as HTMLInputElement;
    search.value = 'about 299';
    search.dispatchEvent(new Event('input'));
    expect([...section.node.querySelectorAll('li')].map(one => one.textContent)).toEqual(['number-299\u2606']);
  });
});

describe('prompts in palette and menu', () => {
  it('are those of the notebook in front, and go with it', () => {
    const commands = new CommandRegistry();
    commands.addCommand(PROMPT, { label: args => args.label as string, execute: () => undefined });
    const contextMenu = new ContextMenu({ commands });
    const items = new Set<unknown>();
    const addItem = vi.fn((item: unknown) => {
      items.add(item);
      return { isDisposed: false, dispose: (): unknown => items.delete(item) };
    });
    const menus = new PromptMenus({ commands, contextMenu, palette: { addItem } as unknown as ICommandPalette, label });
    menus.show([prompt('review'), prompt('plan', 'Make a plan')]);
    const told = [...items].map(one => (one as { args: { label: string } }).args.label);
    expect(told).toEqual(['demo.review', 'Make a plan (demo.plan)']);
    menus.show([]);
    expect(items.size).toBe(0);
    menus.show([prompt('review')]);
    menus.dispose();
    expect(items.size).toBe(0);
  });
});
