/**
 * A prompt's form in a dialog, and the cell that comes of it.
 */

import { Dialog } from '@jupyterlab/apputils';
import type { NotebookPanel } from '@jupyterlab/notebook';

import '../../style/prompts.css';
import { insertCell } from '../commands/cells';
import { record, text } from '../said';
import { FIRST, PromptForm } from './form';
import { argumentFor, type Prompt } from './prompts';

const INSERT = 'Insert as a cell';
const ASK = 'Ask a model with it';

export interface OpenOptions {
  prompt: Prompt;
  panel: NotebookPanel;
  request: (act: string, data?: Record<string, unknown>) => Promise<unknown>;
  /** What was selected where the prompt was asked for; "" for nothing. */
  selection: string;
}

/** Let a person fill in a prompt's arguments, and put what comes of it below the active cell. Nothing is run. */
export async function openPrompt(options: OpenOptions): Promise<void> {
  const { prompt, panel, request, selection } = options;
  const taker = selection === '' ? null : argumentFor(prompt);
  const given = taker === null ? {} : { [taker.name]: selection };
  const form = new PromptForm({ prompt, given, request });
  const dialog = new FormDialog(form, prompt.title);
  const { button } = await dialog.launch();
  const values = form.values;
  form.dispose();
  if (!button.accept || panel.isDisposed) {
    return;
  }
  const act = button.label === ASK ? 'prompt_messages' : 'prompt_cell';
  const said = record(await request(act, { server: prompt.server, prompt: prompt.name, arguments: values }));
  insertCell(panel, text(button.label === ASK ? said.ask : said.source));
}

/** A dialog that stays as long as something is still to be filled in. */
class FormDialog extends Dialog<unknown> {
  constructor(form: PromptForm, title: string) {
    super({
      title,
      body: form,
      buttons: [
        Dialog.cancelButton(),
        Dialog.createButton({
          label: ASK,
          accept: true,
          caption: 'Insert a cell that asks a model with these messages'
        }),
        Dialog.okButton({ label: INSERT, caption: 'Insert the line that gets this prompt' })
      ],
      focusNodeSelector: FIRST
    });
    this._form = form;
    this.addClass('jmcp-prompt-dialog');
  }

  override resolve(index?: number): void {
    if (index !== 0 && this._form.report()) {
      return;
    }
    super.resolve(index);
  }

  private readonly _form: PromptForm;
}
